"""The names of tensor types above the IR: grouped, numbered by operation, read back as they are."""

import re
from pathlib import Path

import pytest

from memopt.cli.opt import main

Q = "#memgraph.encoding<scale = [{}], zero_point = [{}]>"


def printed(text: str, tmp_path: Path, *flags: str) -> str:
    """What memopt-opt writes, which reads back to the same bytes."""
    path, again = tmp_path / "a.mlir", tmp_path / "b.mlir"
    path.write_text(text)
    assert main([str(path), *flags, "-o", str(path)]) == 0
    assert main([str(path), *flags, "-o", str(again)]) == 0
    assert path.read_text() == again.read_text()
    return path.read_text()


def heads(text: str) -> list[str]:
    """The lines above the module, types without what follows their shape."""
    lines = text[: text.index("builtin.module")].rstrip('"').splitlines()
    return [re.sub(r"tensor<([^,]*),.*", r"\1", line) for line in lines]


def test_activations_first_then_constants_by_their_operation(tmp_path: Path) -> None:
    types = {"x": "1x4xi8", "w": "4x4xi8", "b": "4xi32"}
    aliases = "\n".join(
        f"!{name} = tensor<{shape}, {Q.format(i + 1, i)}>"
        for i, (name, shape) in enumerate(types.items())
    )
    other = f"tensor<4x4xi8, {Q.format(7, 0)}>"
    text = printed(
        f"""{aliases}
        func.func @main(%x: !x) -> !x {{
          %w = memgraph.constant dense<1> : !w
          %v = memgraph.constant dense<1> : {other}
          %b = memgraph.constant dense<1> : !b
          %u = memgraph.constant dense<1> : tensor<4x2xi8, {Q.format(8, 0)}>
          %1 = memgraph.fully_connected %x, %w, %b : (!x, !w, !b) -> !x
          %2 = memgraph.fully_connected %1, %v, %b : (!x, {other}, !b) -> !x
          func.return %2 : !x
        }}""",
        tmp_path,
    )
    assert heads(text) == [
        "// activations",
        "!a0 = 1x4xi8",
        "// constants, numbered by the operation that reads them",
        "!w0 = 4x4xi8",
        "!b0 = 4xi32",
        "!w1 = 4x4xi8",
        "!w2 = 4x2xi8",
    ]
    assert "(!a0, !w0, !b0) -> !a0" in text and "(!a0, !w1, !b0) -> !a0" in text


def test_many_constants_of_one_operation_have_names_of_their_own(tmp_path: Path) -> None:
    types = [f"tensor<2xi8, {Q.format(i + 1, 0)}>" for i in range(20)]
    lines = [f"%c{i} = memgraph.constant dense<{i}> : {t}" for i, t in enumerate(types)]
    operands = ", ".join(f"%c{i}" for i in range(20))
    text = printed(
        f"""func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> {{
          {" ".join(lines)}
          %1 = memgraph.opaque "many"(%x, {operands}) : (tensor<2xi8>, {", ".join(types)})
            -> tensor<2xi8>
          func.return %1 : tensor<2xi8>
        }}""",
        tmp_path,
    )
    names = [line.split(" ")[0] for line in heads(text)[1:]]
    assert names == ["!b0", *(f"!b0_{i}" for i in range(1, 20))]


def test_what_is_a_constant_and_a_value_is_named_once(tmp_path: Path) -> None:
    """Also what follows from constants alone is one, and what has no encoding has no name."""
    text = printed(
        f"""!q = tensor<2x3xi8, {Q.format(2, 0)}>
        !t = tensor<3x2xi8, {Q.format(2, 0)}>
        func.func @main(%x: !q) -> (!q, tensor<2xf32>) {{
          %c = memgraph.constant dense<1> : !q
          %f = memgraph.constant dense<1.0> : tensor<2xf32>
          %t = memgraph.transpose %c permutation [1, 0] : (!q) -> !t
          %1 = memgraph.opaque "f"(%x, %c, %t) : (!q, !q, !t) -> !q
          func.return %1, %f : !q, tensor<2xf32>
        }}""",
        tmp_path,
    )
    assert [line.split(" ")[0] for line in heads(text)] == ["//", "!a0", "//", "!w0"]


@pytest.mark.parametrize("flag", ["--schedule=auto", "--print-op-generic"])
def test_other_forms_read_back(flag: str, tmp_path: Path) -> None:
    text = printed(
        f"""!q = tensor<2xi8, {Q.format(2, 0)}>
        func.func @main(%x: !q) -> !q {{
          %1 = memgraph.relu %x : (!q) -> !q
          func.return %1 : !q
        }}""",
        tmp_path,
        flag,
    )
    assert heads(text) == ["// activations", "!a0 = 2xi8"]


def test_no_headings_where_nothing_has_a_name(tmp_path: Path) -> None:
    text = "func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> { func.return %x : tensor<2xi8> }"
    assert heads(printed(text, tmp_path)) == []


def test_resnet8_shows_its_activations_first(shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.mlir"
    assert main([str(shared / "models" / "resnet8_int8.tflite"), "-o", str(path)]) == 0
    lines = path.read_text().splitlines()
    assert [line[:3] for line in lines[:18]] == ["// ", *["!a" + str(i)[0] for i in range(17)]]
    assert max(map(len, lines[:18])) <= 100  # the scales of channels come after
    assert "(!a1, !w1, !b1) -> !a2" in path.read_text()
