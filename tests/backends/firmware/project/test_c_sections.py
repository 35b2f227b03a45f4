"""Sections of arrays: symbols lie in those that are asked for, the answers stay, a flipped byte of
the weights is noticed."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deep import deep_but

from memopt.backends.c.emit.sections import storage_of
from memopt.backends.c.project.layouts import layout_names
from memopt.backends.c.project.project_files import Project
from memopt.backends.c.project.several import Several, several_files
from memopt.backends.c.project.write import make_project, write_files
from memopt.cli import main as memopt
from memopt.targets.core.target import target_named

NETWORK = "tinymaix_mnist_resnet_int8"  # in rows, with softmax
SMALL = "hello_world_int8"
ALL = "--section=weights:.qspi,tables:.itcm,arena:.dtcm"
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
CHECK = """
#include <stdio.h>
#include "net.h"
int main(void) { printf("%d\\n", net_check_weights()); return 0; }
"""


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def compiled(shared: Path, out: Path, *flags: str, name: str = NETWORK) -> Path:
    model = out.parent / "net.tflite"
    shutil.copy(shared / "models" / f"{name}.tflite", model)
    assert memopt(["compile", str(model), "--place=auto", *flags, "-o", str(out)]) == 0
    return out


def sections_of(image: Path, objdump: str = "objdump") -> dict[str, set[str]]:
    """Return the names of the objects in each section."""
    shape = r"^[0-9a-f]+ \w?\s+(?:\w*)O (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$"
    listed = run(objdump, "-t", str(image), cwd=image.parent)
    found: dict[str, set[str]] = {}
    for section, symbol in re.findall(shape, listed, re.MULTILINE):
        found.setdefault(section, set()).add(symbol)
    return found


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("cortex-m4", ["cortex-m4", "riscv32", "host"]))
def test_arrays_lie_in_their_sections(target: str, shared: Path, tmp_path: Path, lab: Any) -> None:
    """And the program answers as without them."""
    lab.need_tools(target)
    inputs = lab.random_inputs(lab.read_model(shared / "models" / f"{NETWORK}.tflite"), 2, seed=5)
    plain = compiled(shared, tmp_path / "plain", f"--target={target}")
    placed = compiled(shared, tmp_path / "placed", f"--target={target}", ALL)
    wanted, ran = (lab.run_project(folder, inputs, trace=False) for folder in (plain, placed))
    assert wanted.code == 0, wanted.messages
    assert ran.code == 0, ran.messages
    assert ran.output == wanted.output
    prefix = {"cortex-m4": "arm-none-eabi-", "riscv32": "riscv64-unknown-elf-"}.get(target, "")
    image = placed / "build" / ("net" if target == "host" else "net.elf")
    found = sections_of(image, f"{prefix}objdump")
    if target != "host":
        listed = json.loads((placed / "report.json").read_text())["target"]["sections"]
        addresses = run(f"{prefix}nm", str(image), cwd=placed)
        (qspi,) = (one for one in listed if one["name"] == ".qspi")
        for name in found[".qspi"]:
            (at,) = re.findall(rf"^([0-9a-f]+) \w {re.escape(name)}$", addresses, re.MULTILINE)
            assert qspi["address"] <= int(at, 16) < qspi["address"] + qspi["bytes"]
        assert {".text", ".dtcm", ".itcm", ".stack"} <= {one["name"] for one in listed}
    assert any("weights" in name or "packed_stream" in name for name in found[".qspi"])
    assert {"calls", "op0_out_at"} <= found[".itcm"]
    assert any("exponential" in name for name in found[".itcm"])
    assert found[".dtcm"] - {"__TMC_END__"} == {"ram"}
    text = (placed / "net.c").read_text()
    for kind, section in (("WEIGHTS", ".qspi"), ("TABLES", ".itcm")):
        names = re.findall(rf"^MEMOPT_{kind} static const \w+ (\w+)\[", text, re.MULTILINE)
        assert names
        assert found[section] == set(names)
    arrays = re.findall(r"^static const \w+ (\w+)\[", text, re.MULTILINE)
    assert set(arrays) <= {"operators", "profiled"}  # which has addresses, and a build's


@pytest.mark.parametrize("target", deep_but("cortex-m4", ["cortex-m4", "cortex-m7", "riscv32"]))
def test_sections_begin_at_their_addresses(
    target: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    """Where QEMU's board has memory they are used there; elsewhere nothing is run, and said why. It
    does not matter where one is in which nothing lies."""
    lab.need_tools(target)
    ((start, _), *_) = target_named(target).rooms or ((0x80200000, 0),)
    where = f"weights:.qspi@{start:#x},tables:.none@0xd0000000,arena:.far@{start + (1 << 19):#x}"
    inputs = lab.random_inputs(lab.read_model(shared / "models" / f"{SMALL}.tflite"), 2, seed=5)
    plain = compiled(shared, tmp_path / "plain", f"--target={target}", name=SMALL)
    flags = f"--target={target}", f"--section={where}"
    placed = compiled(shared, tmp_path / "placed", *flags, name=SMALL)
    wanted, ran = (lab.run_project(folder, inputs, trace=False) for folder in (plain, placed))
    assert (wanted.code, ran.code) == (0, 0), ran.messages
    assert ran.output == wanted.output
    facts = [json.loads((out / "report.json").read_text())["target"] for out in (plain, placed)]
    found = {one["name"]: (one["address"], one["bytes"]) for one in facts[1]["sections"]}
    assert found[".qspi"][0] == start and found[".far"][0] == start + (1 << 19)
    assert found[".qspi"][1] > 0 and facts[1]["arena"] == facts[0]["arena"]
    assert 0 <= facts[1]["flash"] - facts[0]["flash"] < 64  # what is aligned
    assert facts[1]["instructions"] == pytest.approx(facts[0]["instructions"], rel=0.02)
    nowhere = compiled(
        *(shared, tmp_path / "nowhere", f"--target={target}"),
        *("--section=weights:.qspi@0xd0000000", "--ram=64K"),
        name=SMALL,
    )
    facts = json.loads((nowhere / "report.json").read_text())["target"]
    assert facts["instructions"] is None and facts["flash"] > 0
    assert facts["not_measured"]["instructions"].endswith("no memory where .qspi lies")


def planned(
    shared: Path, name: str, lab: Any, section: str | None, checked: bool = False
) -> Project:
    """Return a model of whole operators for a host."""
    module = lab.read_model(shared / "models" / f"{name}.tflite")
    lab.plan(module, target="host")
    return make_project(module, "net", "host", storage=storage_of(section, checked))


def test_a_build_says_where_arrays_lie(shared: Path, tmp_path: Path, lab: Any) -> None:
    """By a definition of its own, which comes before that of --section."""
    for section in (None, "weights:.qspi"):
        out = tmp_path / str(section)
        write_files(planned(shared, "hello_world_int8", lab, section), out, "single-file")
        own = '-DMEMOPT_WEIGHTS=__attribute__((section(".far")))'
        run("cc", "-std=c99", *STRICT, own, "-c", "net.c", cwd=out)
        listed = run("objdump", "-h", "net.o", cwd=out)
        assert " .far " in listed and ".qspi" not in listed


def test_every_layout_has_sections(shared: Path, tmp_path: Path, lab: Any) -> None:
    """On a host, where they are of no use, and legal all the same, in C and in C++."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    project = planned(shared, NETWORK, lab, ALL.partition("=")[2])
    for layout in layout_names():
        write_files(project, tmp_path / layout, layout)
        check_layout(layout, tmp_path / layout)


def check_layout(layout: str, out: Path) -> None:
    header = next(out.rglob("net.h"))
    assert '#define NET_ARENA_SECTION __attribute__((section(".dtcm")))' in header.read_text()
    assert "NET_ARENA_SECTION static uint8_t arena" in (out / "README.md").read_text()
    folders = [f"-I{header.parent}", f"-I{out / 'kernels'}"]
    source = str(header.with_suffix(".c"))
    if layout in ("make", "single-file"):
        run("cc", "-std=c99", *STRICT, *folders, "-c", source, cwd=out)
    if layout == "single-file":
        run("g++", "-std=c++11", "-x", "c++", "-c", source, *folders, cwd=out)
    for example in out.rglob("main.cpp"):
        assert "NET_ARENA_SECTION static uint8_t arena" in example.read_text()


@pytest.mark.parametrize("section", [None, "weights:.qspi"])
@pytest.mark.parametrize(
    "name", deep_but(NETWORK, [NETWORK, "hello_world_float", "streaming_wakeword_int8"])
)
def test_a_flipped_byte_of_the_weights_is_noticed(
    section: str | None, name: str, shared: Path, tmp_path: Path, lab: Any
) -> None:
    """In the image, of which bytes in turn are changed."""
    out = tmp_path / "out"
    write_files(planned(shared, name, lab, section, section is None), out, "single-file")
    (out / "main.c").write_text(CHECK)
    put = () if section else ('-DMEMOPT_WEIGHTS=__attribute__((section(".qspi")))',)
    run("cc", "-std=c99", *STRICT, *put, "main.c", "net.c", "-lm", "-o", "check", cwd=out)
    assert run("./check", cwd=out) == "0\n"
    listed = run("readelf", "-S", "-W", "check", cwd=out)
    place = re.search(r" \.qspi +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", listed)
    assert place is not None
    start, size = int(place[1], 16), int(place[2], 16)
    image = (out / "check").read_bytes()
    noticed = 0
    for at in range(start, start + size, max(1, size // 16)):
        flipped = bytearray(image)
        flipped[at] ^= 1
        (out / "flipped").write_bytes(flipped)
        (out / "flipped").chmod(0o755)
        noticed += run("./flipped", cwd=out) == "1\n"
    assert noticed >= 12  # of 16: between arrays there are bytes of nobody


def test_without_the_option_there_is_no_check(shared: Path, lab: Any) -> None:
    emitted = planned(shared, "hello_world_int8", lab, "tables:.itcm").emitted
    assert "check_weights" not in emitted.header + emitted.source


@pytest.mark.deep
def test_objects_lie_in_the_section_of_the_arena(shared: Path, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("cortex-m4")
    flags = ("--target=cortex-m4", "--place=shared-objects", "--section=arena:.dtcm")
    out = compiled(shared, tmp_path / "out", *flags)
    run("make", "-s", cwd=out)
    found = sections_of(out / "build" / "net.elf", "arm-none-eabi-objdump")
    assert found[".dtcm"] and all(name.endswith("_memory") for name in found[".dtcm"])


@pytest.mark.deep
def test_several_models_have_the_same_sections(shared: Path, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("cortex-m4")
    models = [str(shared / "models" / f"{n}.tflite") for n in ("hello_world_int8", NETWORK)]
    out, flags = tmp_path / "out", ["--target=cortex-m4", ALL, "--share-arena"]
    assert memopt(["compile", *models, "--place=auto", *flags, "-o", str(out)]) == 0
    run("make", "-s", cwd=out)
    found = sections_of(out / "build" / "memopt_models.elf", "arm-none-eabi-objdump")
    assert found[".dtcm"] == {"ram"}
    assert len(found[".qspi"]) > 2


def test_several_models_have_each_an_arena_there(shared: Path, lab: Any) -> None:
    pair = [planned(shared, "hello_world_int8", lab, "arena:.dtcm") for _ in range(2)]
    projects = tuple(replace(p, name=name) for p, name in zip(pair, "ab", strict=True))
    main = several_files(Several(projects), "make")["main.c"]
    assert isinstance(main, str)
    assert main.count("_ARENA_SECTION\n__attribute__((aligned(64))) static uint8_t") == 2
