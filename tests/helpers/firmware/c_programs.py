"""Many forms of networks as one C program of few kernels, so that thousands compile quickly."""

import fcntl
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.c.emit.source import emit, emit_files
from memopt.backends.c.kernels import Form, kernel_files, needed_files, text_of

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
@includes@
typedef int run(uint8_t *arena, const void *input, void *first, void *second);

@functions@
/* The outputs of one form, each a buffer of its own, so that sanitizers see its ends. */
static int one(run *form, size_t arena, size_t input, size_t first, size_t second, const char *in) {
  uint8_t *memory = malloc(arena), *a = malloc(first), *b = malloc(second ? second : 1);
  char *given = malloc(input);
  int code;
  memcpy(given, in, input);
  memset(memory, 0x5b, arena);
  code = form(memory, given, a, b);
  fwrite(a, 1, first, stdout);
  fwrite(b, 1, second, stdout);
  free(memory), free(a), free(b), free(given);
  return code;
}

int main(void) {
  static char in[1 << 16];
@calls@  return 0;
}
"""


class Program:
    """Forms of networks, each with a function of its own, and what calls all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.names: list[str] = []
        self.functions = ""
        self.calls = ""
        self.kernels: set[str] = set()

    def add(self, module: ModuleOp, name: str, sizes: list[int]) -> None:
        """`sizes` of the input and the outputs, in bytes."""
        emitted = emit(module, name, "host")
        header, source = emit_files(emitted, name)
        (self.folder / f"{name}.h").write_text(header)
        (self.folder / f"{name}.c").write_text(source)
        self.kernels.update(emitted.kernels)
        self.names.append(name)
        outputs = ["first", "second"][: len(sizes) - 1]
        self.functions += (
            f"static int {name}(uint8_t *arena, const void *input, void *first, void *second) {{\n"
            f"  (void)second;\n  return {name}_run(arena, input, {', '.join(outputs)});\n}}\n"
        )
        arena = f"{name.upper()}_ARENA_BYTES"
        numbers = ", ".join(map(str, [*sizes, *([0] * (3 - len(sizes)))]))
        if name.startswith("whole"):
            self.calls += f"  if (fread(in, 1, {sizes[0]}, stdin) != {sizes[0]}) return 1;\n"
        self.calls += f"  if (one({name}, {arena}, {numbers}, in)) return 2;\n"

    def run(self, objects: Path, given: bytes, flags: list[str]) -> bytes:
        """What it writes."""
        includes = "".join(f'#include "{name}.h"\n' for name in self.names)
        text = MAIN.replace("@includes@", includes).replace("@functions@", self.functions)
        (self.folder / "main.c").write_text(text.replace("@calls@", self.calls))
        kernels = kernel_objects(objects, self.kernels, flags)
        sources = [self.folder / f"{name}.c" for name in self.names]
        command = ["cc", *flags, "-I", str(self.folder), "-o", str(self.folder / "program")]
        command += map(str, [self.folder / "main.c", *sources, *kernels])
        done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        ran = subprocess.run(
            [str(self.folder / "program")], input=given, capture_output=True, check=False
        )
        assert ran.returncode == 0, ran.stderr[-3000:]
        return ran.stdout


class Pairs:
    """Networks, each behind the whole network of which it has to compute the outputs."""

    def __init__(self, folder: Path) -> None:
        self.program = Program(folder)
        self.given = b""
        self.sizes: list[tuple[int, int]] = []  # a seed, bytes of all outputs

    def add(
        self, seed: int, whole: ModuleOp, module: ModuleOp, image: bytes, sizes: list[int]
    ) -> None:
        """Add two forms of a network, planned, of which each reads `image` and writes `sizes`."""
        self.given += image
        self.sizes.append((seed, sum(sizes)))
        self.program.add(whole, f"whole{seed}", [len(image), *sizes])
        self.program.add(module, f"other{seed}", [len(image), *sizes])

    def outputs(self, flags: tuple[Path, list[str]]) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield the seeds, and the bytes that the whole network and the other one write."""
        output = self.program.run(flags[0], self.given, flags[1])
        for seed, size in self.sizes:
            yield seed, output[:size], output[size : 2 * size]
            output = output[2 * size :]
        assert not output


def compiled(kept: Path, sanitize: str) -> tuple[Path, list[str]]:
    """The texts of all kernels, and how a program of them is compiled, with sanitizers: those of
    networks that round as TensorFlow Lite Micro's and of such that round as ONNX's.

    They are written once in the folder `kept`, which tests and processes share; what a program
    calls of them is compiled there, too, once.
    """
    folder = kept / "kernels"
    how = ["-std=c99", *sanitize.split(), "-ffp-contract=off", "-I", str(folder)]
    with (kept / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            folder.mkdir(exist_ok=True)
            files = [f for f in kernel_files() if f.endswith(".c")]
            for path in needed_files(f.removeprefix("memopt_").removesuffix(".c") for f in files):
                (folder / path.name).write_text(text_of(path, Form(rounds_even=True)))
            (folder / "made").touch()
    return folder, how


def kernel_objects(folder: Path, kernels: Iterable[str], flags: list[str]) -> list[Path]:
    """The object files of kernels in such a folder, those compiled that are not there yet."""
    found = [folder / f"memopt_{k}.o" for k in sorted(kernels)]
    missing = [path for path in found if not path.exists()]
    if missing:
        with tempfile.TemporaryDirectory(dir=folder) as part:
            sources = [str(path.with_suffix(".c")) for path in missing]
            done = subprocess.run(
                ["cc", *flags, "-c", *sources],
                cwd=part,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            for path in missing:  # another process may have put the same there
                (Path(part) / path.name).replace(path)
    return found
