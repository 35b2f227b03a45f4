"""The C kernels as files, and all that a model needs in the right order.

`<family>/memopt_<kernel>.c` is a kernel, its parameters' type at the top; what several kernels
include are headers beside them. A family's `__init__.py` registers which operators its kernels run.
`memopt_inlined.c`, `memopt_inlined_row.c` and `memopt_epilogue_row.c`, of no family, call kernels
of all of them. What stands between `#if MEMOPT_ROUND_EVEN` and `#endif /* MEMOPT_ROUND_EVEN */` is
left out for networks of which no operator rounds as ONNX's.

All kernels have one signature: `KERNEL {` stands for it and for `p`, the pointer to parameters of
this kernel's type; `KERNEL(rows, scratch) {` says also which arguments it does not use.

One file is the source of several kernels where it begins with a table. The first line has words,
each other line what stands for them in one kernel, two spaces or more apart:

    /* KIND  TYPE
     * f32   float
     * s8    int8_t
     */

Words are replaced in the text and in the file's name: `memopt_pad_KIND.c` is `memopt_pad_f32.c` and
`memopt_pad_s8.c`. A table of words alone has a line for each FunctionOp, or each element kind of a
BinaryOp, that says its C expression.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from textwrap import fill

from xdsl.ir import Operation

from memopt.backends.c.emit.call import C_TYPES
from memopt.dialects.operators import operations, operator_named
from memopt.dialects.operators.binary import BinaryOp
from memopt.dialects.operators.unary import FunctionOp
from memopt.modules import fault, folders_of

_INCLUDE = re.compile(r'^#include "(memopt_\w+\.h)"\n', re.MULTILINE)
_EVEN = "#define MEMOPT_ROUND_EVEN {}\n"
_EVEN_ONLY = re.compile(  # a section that ends with this comment, and an empty line behind it
    r"^#if MEMOPT_ROUND_EVEN\b(?:.(?!^#if MEMOPT_ROUND_EVEN\b))*?"
    r"^#endif /\* MEMOPT_ROUND_EVEN \*/\n\n?",
    re.MULTILINE | re.DOTALL,
)
_SPECIALISE = "#define MEMOPT_SPECIALISE {}\n"
_CODE = re.compile(r"^#define MEMOPT_WITH_(\w+) 1$", re.MULTILINE)
_NAMES = "#define MEMOPT_KERNEL\n#endif\n"  # behind which kernels get other names
_TYPE = re.compile(r"\bmemopt_\w+\b")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRUCT = re.compile(r"typedef struct {([^}]*)} (\w+);")
_FIELD = re.compile(r"(\w+)(?:\[\w+\])*(?=[,;])")
_TABLE = re.compile(r"/\* [A-Z].*\n(?: \* .*\n)* \*/\n")  # of words, at the top of a file
_ROW = re.compile(r"^[ /]\* (.+)$", re.MULTILINE)
_WORD = re.compile(r"MEMOPT_\w+|(?<![A-Z])[A-Z]+(?![A-Z])")
_HEAD = re.compile(r"^KERNEL(?:\((.+)\))? {$", re.MULTILINE)
_ARGUMENTS = (  # with \0 for a space at which no line ends
    "const\0void\0*params, const\0memopt_rows\0*rows, const\0void\0*const\0*in, void\0*out, "
    "void\0*scratch)\0{"
)
_ONCE = re.compile(r"\bMEMOPT_ONCE [^(;#]*?\bmemopt_(\w+)\(")  # a function that kernels share
# Headers have functions for other kernels too, of which clang says so where they are no headers.
_SHARED = """#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#endif

{}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
"""


@dataclass(frozen=True)
class Form:
    """How the text of kernels is written: whether operators of the network round as ONNX's,
    whether the compiler may specialise what surrounds the loops, which makes it larger, and what
    the tables `need` (as Table has it), None for all that there is."""

    rounds_even: bool = False
    specialised: bool = True
    needed: frozenset[str] | None = None


def joined(forms: Iterable[Form]) -> Form:
    """Return the form of kernels that several networks share."""
    given = list(forms)
    needed: frozenset[str] | None = frozenset()
    for form in given:
        needed = None if needed is None or form.needed is None else needed | form.needed
    return Form(any(f.rounds_even for f in given), all(f.specialised for f in given), needed)


@dataclass(frozen=True)
class Source:
    """A kernel or a header: a file in which `words` are replaced."""

    path: Path
    words: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return self._filled(self.path.name)

    @cached_property
    def text(self) -> str:
        """The C as users get it."""
        text = self.path.read_text()
        text = self._filled(_TABLE.sub("", text, count=1)) if self.words else text
        return _HEAD.sub(lambda head: _head(self.name.removesuffix(".c"), head[1] or ""), text)

    def _filled(self, text: str) -> str:
        values = dict(self.words)
        return _WORD.sub(lambda word: values.get(word[0], word[0]), text)


def _head(kernel: str, unused: str) -> str:
    """Return the lines with which a kernel begins."""
    begin, kind = f"MEMOPT_KERNEL\0void\0{kernel}(", f"const\0{kernel}_params\0*"
    head = fill(begin + _ARGUMENTS, 100, subsequent_indent=" " * len(begin))
    p = fill(f"\0\0{kind}p\0= ({kind})params;", 100, subsequent_indent=" " * 6)
    lines = [head, p, *(f"  (void){name};" for name in unused.split(", ") if name)]
    return "\n".join(lines).replace("\0", " ")


def sources_of(path: Path, name: str | None = None) -> list[Source]:
    """Return the kernels that a file is the source of, of functions perhaps only that of `name`."""
    pattern = _of_words(path.name)
    if pattern is None:
        return [Source(path)]
    words, *rows = _table(path)
    if not rows:
        match = None if name is None else pattern.fullmatch(name)
        one = None if match is None else operator_named(f"memgraph.{match[1]}", in_any=False)
        functions = operations() if name is None else (one,)
        rows = [row for f in functions for row in _rows(f, "KIND" in words)]
    return [Source(path, tuple(zip(words, row, strict=True))) for row in rows]


@cache
def _table(path: Path) -> list[list[str]]:
    """Return the words of a file and what stands for them, line by line."""
    table = _TABLE.match(path.read_text())
    assert table is not None, path
    return [[c.strip() for c in re.split("  +", row)] for row in _ROW.findall(table[0])]


def _rows(function: type[Operation] | None, of_two: bool) -> list[list[str]]:
    """Return what stands for the words of a table in the kernels of a function."""
    if of_two and function is not None and issubclass(function, BinaryOp):
        return [[_kernel(function), kind, C_TYPES[kind], c] for kind, c in function.C.items()]
    if not of_two and function is not None and issubclass(function, FunctionOp) and function.C:
        return [[_kernel(function), function.C]]
    return []


def _kernel(function: type[Operation]) -> str:
    return function.name.removeprefix("memgraph.")


@cache
def _of_words(name: str) -> re.Pattern[str] | None:
    """Return what matches the names of the kernels that are written in one file, None for a file
    that is one kernel."""
    pattern, words = _WORD.subn(r"(\\w+)", name.replace(".", r"\."))
    return re.compile(pattern) if words else None


@cache
def _paths() -> tuple[tuple[str, Path], ...]:
    """Return the package and path of every file of kernels."""
    return tuple(
        (package, path)
        for package, folders in folders_of(__name__).items()
        for path in sorted(p for folder in folders for p in Path(folder).rglob("memopt_*.[ch]"))
    )


@cache
def kernel_file(name: str) -> Source:
    """Return the source of a kernel or header; what none of its name can be is not read. Raises
    KeyError if there is none."""
    by_name: dict[str, Source] = {}
    for package, path in _paths():
        pattern = _of_words(path.name)
        if path.name == name or (pattern is not None and pattern.fullmatch(name)):
            _add(by_name, package, sources_of(path, name))
    return by_name[name]


@cache
def kernel_files() -> dict[str, Source]:
    """Name -> source of every kernel and header."""
    by_name: dict[str, Source] = {}
    for package, path in _paths():
        _add(by_name, package, sources_of(path))
    return by_name


def _add(by_name: dict[str, Source], package: str, sources: Iterable[Source]) -> None:
    for source in sources:
        if source.name in by_name:
            raise fault(package, f"has {source.name}, as {by_name[source.name].path}")
        by_name[source.name] = source


@cache
def _included(text: str) -> list[str]:
    return _INCLUDE.findall(text)


def needed_headers(file: str) -> list[str]:
    """The project headers that a kernel file includes, innermost first, each once."""
    headers: list[str] = []
    for name in _included(kernel_file(file).text):
        for inner in [*needed_headers(name), name]:
            if inner not in headers:
                headers.append(inner)
    return headers


def needed_files(kernels: Iterable[str]) -> list[Source]:
    """Every file that kernels `memopt_<name>` consist of: headers in order, then sources."""
    headers: list[str] = []
    sources: list[str] = []
    for kernel in kernels:
        source = f"memopt_{kernel}.c"
        headers += [h for h in needed_headers(source) if h not in headers]
        sources.append(source)
    return [kernel_file(name) for name in headers + sources]


def text_of(file: Source, form: Form, names: str = "") -> str:
    """The text of a kernel or header in this form, for a network whose kernels have `names` of
    their own."""
    text = file.text.replace(_NAMES, _NAMES + names)
    for line, value in ((_EVEN, form.rounds_even), (_SPECIALISE, form.specialised)):
        text = text.replace(line.format(int(not value)), line.format(int(value)))
    text = text if form.rounds_even else _EVEN_ONLY.sub("", text)
    needed = form.needed
    if needed is None:
        return text
    return _CODE.sub(lambda code: f"{code[0][:-1]}{int(code[1] in needed)}", text)


def names_of(owner: str, kernels: Iterable[str]) -> str:
    """Return macros that give kernels, and functions that they share, names that begin with the
    `owner`'s, so that several models with kernels of their own, perhaps of other versions, are one
    program."""
    names = list(kernels)
    shared = (n for file in needed_files(names) for n in _ONCE.findall(file.text))
    given = (f"#define memopt_{k} {owner}_memopt_{k}\n" for k in sorted({*names, *shared}))
    return "\n/* Of this model alone, so that others may have theirs. */\n" + "".join(given)


def inlined(kernels: Iterable[str], form: Form) -> str:
    """The text of the kernels as one piece, without includes of one another."""
    files = needed_files(kernels)
    return _SHARED.format("\n".join(_INCLUDE.sub("", text_of(file, form)) for file in files))


def parameters_of(kernel: str) -> str:
    """The definition of the type of a kernel's parameters, as it stands in the kernel's file."""
    name = f"memopt_{kernel}"
    text = kernel_file(f"{name}.c").text
    end = f"}} {name}_params;\n"
    return text[text.index("typedef struct {\n") : text.index(end)] + end


def field_order(kernel: str) -> dict[str, int]:
    """Place of each field of a kernel's parameters as declared; "packed.taps" are those of a field
    that is a struct. C++ takes initialisers in this order alone."""
    file = f"memopt_{kernel}.c"
    return _order_in(kernel, *[kernel_file(h).text for h in [*needed_headers(file), file]])


@cache
def _order_in(kernel: str, *texts: str) -> dict[str, int]:
    structs = {name: body for body, name in _STRUCT.findall(_COMMENT.sub("", "".join(texts)))}

    def fields(struct: str) -> Iterator[str]:
        for line in structs[struct].split(";"):
            kind = line.split()[0] if line.split() else ""
            for name in _FIELD.findall(f"{line};"):
                yield name
                if kind in structs and "*" not in line:
                    yield from (f"{name}.{inner}" for inner in fields(kind))

    return {name: place for place, name in enumerate(fields(f"memopt_{kernel}_params"))}


def declarations(kernels: Iterable[str], folder: str = "") -> str:
    """Return the declarations that a file needs to call kernels that are compiled as files of their
    own, in a folder beside it: the headers with the types of their parameters, those types, and the
    functions."""
    names = list(dict.fromkeys(kernels))
    headers, text = ["memopt_common.h"] if names else [], ""
    for kernel in names:
        parameters, name = parameters_of(kernel), f"memopt_{kernel}"
        used = _TYPE.findall(parameters.rpartition("}")[0])
        headers += [h for h in needed_headers(f"{name}.c") if any(_defines(h, t) for t in used)]
        text += f"\n{parameters}\nmemopt_kernel {name};\n"
    return "".join(f'#include "{folder}{h}"\n' for h in dict.fromkeys(headers)) + text


def _defines(header: str, type_: str) -> bool:
    return f"}} {type_};\n" in kernel_file(header).text
