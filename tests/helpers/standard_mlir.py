"""Functions of MLIR lowered by the stock mlir-opt and run by its runner, with inputs from files.

An arena lies between two pages that nobody may touch: at the start of what is between them, and at
its end in a second run, so that a byte written or read on either side ends the process.
"""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

OPT, RUN = "mlir-opt-19", "mlir-cpu-runner-19"
LOWER = (
    *("--convert-linalg-to-loops", "--lower-affine", "--convert-scf-to-cf"),
    *("--expand-strided-metadata", "--lower-affine", "--convert-math-to-libm"),
    *("--finalize-memref-to-llvm", "--convert-arith-to-llvm", "--convert-index-to-llvm"),
    *("--convert-func-to-llvm", "--convert-cf-to-llvm", "--reconcile-unrealized-casts"),
)
BUFFERS = (
    "--one-shot-bufferize=bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map"
)
SIDES = (0, 1)  # the arena begins behind a guard page, or ends before one

SUPPORT = r"""
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
typedef struct { void *allocated; char *aligned; int64_t offset, size, stride; } bytes;
static char *from, *to;  /* what may be touched */
static char *arena;
static int64_t length;
void _mlir_ciface_guarded(bytes *made, int64_t wanted, int64_t at_end) {
  const int64_t page = sysconf(_SC_PAGESIZE), inside = (wanted + page - 1) / page * page;
  char *all = mmap(NULL, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED || mprotect(all + page, inside, PROT_READ | PROT_WRITE) != 0) abort();
  from = all + page;
  to = from + inside;
  memset(from, 77, inside);
  arena = at_end ? to - wanted : from;
  length = wanted;
  *made = (bytes){arena, arena, 0, wanted, 1};
}
int64_t _mlir_ciface_untouched(void) {  /* what is left of the pages beside the arena */
  for (char *at = from; at != to; ++at) {
    if ((at < arena || at >= arena + length) && *at != 77) return 0;
  }
  return 1;
}
static void moved(bytes *m, int64_t k, const char *way) {
  char name[32];
  snprintf(name, sizeof name, "%s%d", way, (int)k);
  FILE *file = fopen(name, *way == 'i' ? "rb" : "wb");
  if (file == NULL) abort();
  const size_t done = *way == 'i' ? fread(m->aligned, 1, m->size, file)
                                  : fwrite(m->aligned, 1, m->size, file);
  if (done != (size_t)m->size || fclose(file) != 0) abort();
}
void _mlir_ciface_load(bytes *m, int64_t k) { moved(m, k, "in"); }
void _mlir_ciface_save(bytes *m, int64_t k) { moved(m, k, "out"); }
"""
DECLARED = """
func.func private @guarded(i64, i64) -> memref<?xi8> attributes {llvm.emit_c_interface}
func.func private @untouched() -> i64 attributes {llvm.emit_c_interface}
func.func private @load(memref<?xi8>, i64) attributes {llvm.emit_c_interface}
func.func private @save(memref<?xi8>, i64) attributes {llvm.emit_c_interface}
"""


def need_mlir() -> None:
    """Skip the test where standard MLIR is not installed."""
    if any(shutil.which(tool) is None for tool in (OPT, RUN, "gcc")):
        pytest.skip(f"needs {OPT}, {RUN} and gcc")


@dataclass(frozen=True)
class Tensor:
    """`8x16xf32`, and its bytes."""

    text: str
    bytes: int


def tensor(shape: Sequence[int], element: str = "f32", width: int = 4) -> Tensor:
    """A tensor's type."""
    return Tensor("x".join([*map(str, shape), element]), int(np.prod(shape)) * width)


def standard(text: str, *flags: str) -> str:
    """What mlir-opt makes of it."""
    done = subprocess.run([OPT, *flags], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def library(source: str, name: str, folder: Path) -> Path:
    """C as a shared library."""
    path = folder / f"{name}.c"
    path.write_text(source)
    made = folder / f"lib{name}.so"
    flags = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
    done = subprocess.run(
        ["gcc", *flags, str(path), "-o", str(made), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return made


def _buffers(kind: str, tensors: Sequence[Tensor]) -> list[str]:
    lines: list[str] = []
    for k, t in enumerate(tensors):
        lines += [
            f"%{kind}bytes{k} = memref.alloc() {{alignment = 64}} : memref<{t.bytes}xi8>",
            f"%{kind}{k} = memref.view %{kind}bytes{k}[%c0][]"
            f" : memref<{t.bytes}xi8> to memref<{t.text}>",
        ]
    return lines


def _files(what: str, kind: str, tensors: Sequence[Tensor]) -> list[str]:
    lines: list[str] = []
    for k, t in enumerate(tensors):
        lines += [
            f"%{kind}open{k} = memref.cast %{kind}bytes{k} : memref<{t.bytes}xi8> to memref<?xi8>",
            f"%{kind}number{k} = arith.constant {k} : i64",
            f"call @{what}(%{kind}open{k}, %{kind}number{k}) : (memref<?xi8>, i64) -> ()",
        ]
    return lines


def entry(
    name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor], arena: int | None, side: int = 0
) -> str:
    """`@entry`, which calls @name: one on an arena, which then is guarded, or one of tensors. Its
    result is 1, or 0 if what is beside the arena changed."""
    lines = ["%c0 = arith.constant 0 : index", *_buffers("x", inputs), *_buffers("y", outputs)]
    lines += _files("load", "x", inputs)
    if arena is None:
        lines += [
            f"%t{k} = bufferization.to_tensor %x{k} restrict : memref<{t.text}>"
            for k, t in enumerate(inputs)
        ]
        given = ", ".join(f"%t{k}" for k in range(len(inputs)))
        taken = ", ".join(f"tensor<{t.text}>" for t in inputs)
        made = ", ".join(f"tensor<{t.text}>" for t in outputs)
        several = f":{len(outputs)}" if len(outputs) > 1 else ""
        lines.append(f"%r{several} = call @{name}({given}) : ({taken}) -> ({made})")
        for k, t in enumerate(outputs):
            result = f"%r#{k}" if several else "%r"
            lines += [
                f"%m{k} = bufferization.to_memref {result} : memref<{t.text}>",
                f"memref.copy %m{k}, %y{k} : memref<{t.text}> to memref<{t.text}>",
            ]
        lines.append("%good = arith.constant 1 : i64")
    else:
        given = [f"%x{k}" for k in range(len(inputs))] + [f"%y{k}" for k in range(len(outputs))]
        types = ", ".join(f"memref<{t.text}>" for t in (*inputs, *outputs))
        lines += [
            f"%size = arith.constant {arena} : i64",
            f"%side = arith.constant {side} : i64",
            "%guarded = call @guarded(%size, %side) : (i64, i64) -> memref<?xi8>",
            f"%arena = memref.cast %guarded : memref<?xi8> to memref<{arena}xi8>",
            f"call @{name}(%arena, {', '.join(given)}) : (memref<{arena}xi8>, {types}) -> ()",
            "%good = call @untouched() : () -> i64",
        ]
    lines += _files("save", "y", outputs)
    body = "\n".join(f"  {line}" for line in [*lines, "return %good : i64"])
    return f"{DECLARED}func.func @entry() -> i64 {{\n{body}\n}}\n"


def inside(module: str, text: str) -> str:
    """`text` at the end of a printed module."""
    assert module.rstrip().endswith("}")
    return f"{module.rstrip()[:-1]}{text}}}\n"


def run(
    text: str, flags: Sequence[str], inputs: Sequence[np.ndarray], libraries: Sequence[Path]
) -> "subprocess.CompletedProcess[str]":
    """Lower and run `@entry`, in the folder of the first library, where it writes `out0`."""
    folder = libraries[0].parent
    for k, values in enumerate(inputs):
        (folder / f"in{k}").write_bytes(values.tobytes())
    for old in folder.glob("out[0-9]"):
        old.unlink()
    shared = ",".join(map(str, libraries))
    return subprocess.run(
        [RUN, "-e", "entry", "-entry-point-result=i64", f"-shared-libs={shared}"],
        cwd=folder,
        input=standard(text, *flags),
        capture_output=True,
        text=True,
        check=False,
    )


def results(
    text: str, flags: Sequence[str], inputs: Sequence[np.ndarray], libraries: Sequence[Path]
) -> list[bytes]:
    """What `@entry` wrote; nothing beside the arena changed."""
    done = run(text, flags, inputs, libraries)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == "1", "bytes beside the arena changed"
    return [p.read_bytes() for p in sorted(libraries[0].parent.glob("out[0-9]"))]
