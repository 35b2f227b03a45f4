"""The arrows of the design, read from the imports of every file, and what start-up may load."""

import ast
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from places import ROOT
from source_files import files, imports, parsed
from xdsl.ir import Operation

from memopt.dialects.attributes.operators import Activation
from memopt.dialects.operators import operations
from memopt.plugin import PASSES

pytestmark = pytest.mark.quick

ALLOWED = {
    "dialects": {"dialects"},
    "formats": {"formats"},
    "analysis": {"analysis", "dialects", "formats"},
    "verify": {"verify", "dialects", "formats"},
    "targets": {"targets", "analysis", "dialects", "formats"},
    "solvers": {"solvers"},
    "frontends": {"frontends", "verify", "targets", "analysis", "dialects", "formats"},
    "rewrites": {"rewrites", "analysis", "dialects", "formats"},
    "passes": {
        "passes",
        "solvers",
        "rewrites",
        "verify",
        "targets",
        "analysis",
        "dialects",
        "formats",
    },
    "backends": {"backends", "verify", "targets", "analysis", "dialects", "formats"},
}
ROOMS = tuple(ALLOWED)
# What every room says to people, how it finds modules, the native library and numpy: they import
# nothing of the rooms.
LIBRARY = "memopt.solvers.native.library"
NUMPY = "memopt.dialects.arithmetic.lazy_numpy"
EVERYWHERE = ("memopt.dialects.memgraph.errors", "memopt.modules", LIBRARY, NUMPY)
HEAVY = ("numpy", "onnx", "ortools", "ai_edge_litert", "flatbuffers")


@pytest.fixture(scope="module", autouse=True)
def forgetting() -> Iterator[None]:
    """All files' trees are 300 MB: they go with the last test of this module."""
    yield
    parsed.cache_clear()


@pytest.mark.parametrize("room", ROOMS)
def test_arrows(room: str) -> None:
    checked = files(room)
    assert checked
    for path in checked:
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "memopt" and len(parts) > 1 and not name.startswith(EVERYWHERE):
                assert parts[1] in ALLOWED[room], f"{path}: imports {name}"
            assert parts[0] not in ROOMS, f"{path}: imports {name} without memopt"
            if parts[0] == "xdsl":
                assert room != "solvers", f"{path}: imports {name}"
            if parts[0] == "ortools":
                assert room == "solvers", f"{path}: imports {name}"


def test_a_runtime_is_asked_what_it_does_and_not_for_its_name() -> None:
    """Hold `== "tflm"` to where that runtime stands, and to the verifier, which trusts nobody."""
    asks = re.compile(r"""[!=]= ["']tflm["']|["']tflm["'] [!=]=""")
    own = ("targets", "verify", "backends/tflm")
    for path in files(*ROOMS, "src/memopt"):
        if not str(path.relative_to(ROOT)).startswith(own):
            assert not asks.search(path.read_text()), path


def test_the_page_has_these_arrows() -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^\| `(\w+)/` \| .* \| ([\w, ]+) \|$", page, re.MULTILINE)
    written = {room: {room, *others.split(", ")} - {"nothing"} for room, others in rows}
    assert written == ALLOWED


@cache
def hidden_imports(path: Path) -> set[str]:
    """Modules of the project that a file imports inside a function."""
    if not re.search(r"[^\n]from memopt\.", path.read_text()):  # few files need a second walk
        return set()
    return {
        node.module or ""
        for f in ast.walk(parsed(path))
        if isinstance(f, ast.FunctionDef)
        for node in ast.walk(f)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memopt.")
    }


@cache
def shown_imports(path: Path) -> set[str]:
    """Modules of the project that a file imports when it is loaded."""
    names: set[str] = set()
    for node in parsed(path).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memopt"):
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def test_no_import_inside_a_function() -> None:
    for path in files(*ROOMS):
        assert not hidden_imports(path), path


def test_no_import_inside_a_function_breaks_a_circle() -> None:
    """What is imported late could be imported at the top: it does not load the file itself."""
    for path in files(*ROOMS, "src/memopt"):
        late = hidden_imports(path)
        waiting, seen = list(late), set[Path]()
        while waiting:
            found = module_file(waiting.pop())
            if found is not None and found not in seen:
                seen.add(found)
                waiting += shown_imports(found)
        allowed = {module_file(n) for n in late}  # a package may load a file of its own late
        assert path.resolve() not in seen - allowed, f"{path}: {late}"


def test_every_room_is_type_checked() -> None:
    """pyright does not follow links below a folder that it is given: each room is named to it."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {f"src/memopt/{room}" for room in ROOMS} <= set(config["tool"]["pyright"]["include"])


def test_only_solvers_import_ortools() -> None:
    users = [p for p in files(*ROOMS, "src/memopt") if any("ortools" in n for n in imports(p))]
    assert users
    assert all(p.is_relative_to(ROOT / "solvers") for p in users)


@cache
def module_file(name: str) -> Path | None:
    """The file of `memopt.<room>...`, None if it is no module of the project."""
    path = ROOT.joinpath("src", *name.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate.resolve()
    return None


@pytest.mark.parametrize("checker", ["memopt.verify.plan", "memopt.verify.memrefs"])
def test_checkers_share_no_code_with_solvers(checker: str) -> None:
    waiting, seen = [checker], set[str]()
    while waiting:
        name = waiting.pop()
        path = module_file(name)
        if path is None or name in seen:
            continue
        seen.add(name)
        waiting += imports(path)
    assert len(seen) > 3
    assert not [n for n in seen if n.split(".")[1:2] in (["solvers"], ["passes"], ["analysis"])]


def spans(function: ast.AST) -> bool:
    """Whether a function takes the first or the last of those who write or read something."""
    touched = {"writers", "readers", "writes", "reads", "uses", "users"}
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("min", "max")
        and any(
            getattr(part, "attr", getattr(part, "id", None)) in touched
            for argument in node.args
            for part in ast.walk(argument)
        )
        for node in ast.walk(function)
    )


def test_live_ranges_are_derived_by_one_function_and_by_the_verifier() -> None:
    """`solvers/` has them as numbers of a problem; the verifier goes through the steps instead."""
    found = [
        f"{path.relative_to(ROOT)}:{node.name}"
        for path in files(*(room for room in ROOMS if room != "solvers"), "src/memopt")
        if re.search(r"\b(min|max)\(", path.read_text())
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef) and spans(node)
    ]
    assert found == ["analysis/liveness.py:live_range"]
    steps = [
        f"{path.relative_to(ROOT)}:{node.name}"
        for path in files("verify")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef) and node.name == "touch"
    ]
    assert steps == ["verify/groups.py:touch"]


def test_the_plan_is_written_by_one_function() -> None:
    """Whoever else made the attribute could forget the fingerprint, or a number."""
    makers = [
        str(path.relative_to(ROOT))
        for path in files(*ROOMS, "src/memopt")
        if re.search(r"PlanAttr|fingerprint", path.read_text())
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("PlanAttr", "fingerprint")
    ]
    written = "dialects/memgraph/write_plan.py"
    assert makers == [written, written, "verify/memrefs.py", "verify/plan.py"]


def test_the_certificate_checker_needs_nothing_but_the_standard_library() -> None:
    """It is copied and run alone, so nothing of ours may be in it, nor anything installed."""
    needed = {name.split(".")[0] for name in imports(ROOT / "solvers/checker.py")}
    assert needed and not needed - sys.stdlib_module_names
    assert len((ROOT / "solvers/checker.py").read_text().splitlines()) <= 280


def test_the_certificate_checker_runs_alone(tmp_path: Path) -> None:
    alone = tmp_path / "checker.py"
    alone.write_text((ROOT / "solvers/checker.py").read_text())
    (tmp_path / "broken.cert").write_text("{}")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(alone), str(tmp_path / "broken.cert")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr


def test_files_are_small() -> None:
    long = {
        str(p.relative_to(ROOT)): n
        for p in files(*ROOMS, "src/memopt", "tests")
        if (n := len(p.read_text().splitlines())) > 500
    }
    assert not long


MANY = {"dialects/operators", "rewrites"}  # a file per operator or rule


def test_folders_are_small() -> None:
    """At most 25 files of one level, those that say nothing aside; families of kernels have a file
    per type."""
    said = [p for p in files(*ROOMS, "src/memopt") if p.stat().st_size]
    counts = Counter(str(p.parent.relative_to(ROOT)) for p in said)
    assert {folder for folder, n in counts.items() if n > 25} <= MANY
    assert {p.name for p in (ROOT / "src" / "memopt").glob("*.py")} == {
        "__init__.py",
        "console.py",
        "modules.py",
        "plugin.py",
    }
    passes = {p.stem for p in (ROOT / "passes").glob("*.py")} - {"__init__"}
    assert passes == {name.replace("-", "_") for name in PASSES}


KINDS = {"unit", "property", "brute_force", "mutants", "models", "runtimes", "firmware"}


def test_every_test_lies_in_its_room_by_its_kind() -> None:
    """Hold tests to `tests/<room>/<kind>/`, where <room> is a part of memopt, and small folders."""
    rooms = {p.name for p in (ROOT / "src/memopt").iterdir() if p.is_dir()} | {"benchmarks"}
    tests = [p.relative_to(ROOT / "tests") for p in (ROOT / "tests").rglob("test_*.py")]
    lost = [p for p in tests if p.parts[0] not in rooms | {"project"} or len(p.parts) < 3]
    assert not lost + [p for p in tests if p.parts[0] in rooms and p.parts[1] not in KINDS]
    counts = Counter(p.parent for p in (ROOT / "tests").rglob("*.py"))
    assert not [folder for folder, n in counts.items() if n > 25]


def test_no_test_imports_another() -> None:
    """Helpers beside them have what several need."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if not re.search(r"^ *(import|from)\b.*\btest_", path.read_text(), re.MULTILINE):
            continue
        assert not {n for n in imports(path) if n.startswith("test_")}, path


def test_every_module_and_public_function_says_what_it_is_for() -> None:
    silent: list[str] = []
    for path in files(*ROOMS, "src/memopt"):
        tree = parsed(path)
        if tree.body and ast.get_docstring(tree) is None:
            silent.append(str(path))
        silent += [
            f"{path}:{node.lineno} {node.name}"
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            and not node.name.startswith("_")
            and ast.get_docstring(node) is None
            and len(node.body) > 3  # what is shorter says it by its name and types
            and not is_converter(node)
        ]
    assert not silent


def is_converter(node: ast.FunctionDef) -> bool:
    """A frontend's or backend's conversion of the one operator that it is named after."""
    first = node.args.args[0].annotation if node.args.args else None
    return isinstance(first, ast.Name) and (first.id == "Node" or first.id.endswith("Op"))


# Where operators may be listed: their own files, what sources call them, what computes them, what
# onnx itself evaluates, and two tables of what TensorFlow Lite Micro's kernels do besides that, by
# its own names.
LISTS = (
    "dialects/operators",
    "dialects/foreign",  # of others, a file per dialect, as for the verifier
    "verify/foreign",
    *(str(path.relative_to(ROOT)) for path in ROOT.glob("frontends/*/operators.py")),
    "frontends/tflite/shape_rules.py",  # a rule for each of operators.py, as a test of it says
    "frontends/tflite/shape_values.py",
    "frontends/onnx/folding.py",
    "frontends/onnx/expansions",
    "backends/c/kernels",
    "targets/tflm/scratch.py",
    "targets/cmsis_nn/scratch.py",
    "backends/tflm/structs.py",
    "rewrites/group_normalization.py",  # the parts that it knows an operator by
    "rewrites/layer_normalization.py",
)


def listed(node: ast.AST) -> list[ast.expr]:
    """The elements of a list, tuple, set or union of types, the keys of a dictionary, the words of
    a string that is split, the classes and names that a function asks for one after the other, by
    `isinstance`, `==`, `is` or `case`."""
    if isinstance(node, ast.FunctionDef):
        parts = list(ast.walk(node))
        calls = [n for n in parts if isinstance(n, ast.Call) and len(n.args) == 2]
        return [
            *(c.args[1] for c in calls if getattr(c.func, "id", "") == "isinstance"),
            *(e for n in parts if isinstance(n, ast.Compare) for e in (n.left, *n.comparators)),
            *(n.cls for n in parts if isinstance(n, ast.MatchClass)),
            *(n.value for n in parts if isinstance(n, ast.MatchValue)),
        ]
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return node.elts
    if isinstance(node, ast.Dict):
        return [key for key in node.keys if key is not None]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*listed(node.left), node.right] if is_union(node.left) else [node.left, node.right]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        text = node.func.value
        if node.func.attr == "split" and isinstance(text, ast.Constant):
            return [ast.Constant(word) for word in str(text.value).split()]
    return []


def is_union(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)


def operators_in(path: Path) -> list[str]:
    """Places of a file where two or more operators stand in one list, by class or by name. What
    activations are called too (`relu`) is no operator's name."""
    found: list[str] = []
    for node in ast.walk(parsed(path)):
        if len(elements := listed(node)) == 0:
            continue
        names = {
            e.id if isinstance(e, ast.Name) else e.attr if isinstance(e, ast.Attribute) else e.value
            for one in elements
            for e in (one.elts if isinstance(one, ast.Tuple) else [one])
            if isinstance(e, ast.Name | ast.Attribute | ast.Constant)
        }
        several = sorted(str(n) for n in names if str(n) in OPERATORS)
        if len(several) > 1:
            found.append(f"{path}:{getattr(node, 'lineno', 0)}: {several}")
    return found


def spellings(op: type[Operation]) -> set[str]:
    """How an operator is written: its class, its name, its name in capitals and in one word."""
    bare = op.name.removeprefix("memgraph.")
    word = "".join(part.capitalize() for part in bare.split("_"))
    return {op.__name__, op.name, bare, bare.upper(), word} - set(get_args(Activation))


OPERATORS = {name for op in operations() for name in spellings(op)}


def test_operators_are_listed_in_their_own_files_only() -> None:
    """A pass, a formula or a report asks the operation: then a new one is known everywhere."""
    assert len(OPERATORS) > 100
    allowed = [ROOT / place for place in LISTS]
    checked = [
        path
        for path in files(*ROOMS, "src/memopt")
        if not any(path == place or place in path.parents for place in allowed)
    ]
    assert [place for path in checked for place in operators_in(path)] == []
    assert operators_in(ROOT / "frontends/tflite/operators.py")  # they are seen


@pytest.mark.parametrize(
    "text",
    [
        'A = {("CONV_2D", 1), "ADD"}',
        'A = {("CONV_2D", "ADD"): 1}',
        'A = {("CONV_2D", "s8"): 1, ("ADD", "s8"): 2}',
        "A: tuple[type, ...] = (AddOp, operators.SubOp)",
        'A = frozenset("Conv2d Add".split())',
        'A = {"memgraph.add": 1, "memgraph.sub": 2}',
        "def f(op): return isinstance(op, AddOp | SubOp)",
        "def f(op): return isinstance(op, AddOp) or isinstance(op, SubOp)",
        "def f(op): return op.name == 'memgraph.add' or op.name == 'memgraph.sub'",
        "def f(op): return type(op) is AddOp or type(op) is SubOp",
        "def f(op):\n    match op:\n        case AddOp() | SubOp(): return 1",
        "def f(name):\n    match name:\n        case 'ADD': pass\n        case 'SUB': pass",
    ],
)
def test_lists_of_operators_are_seen(text: str, tmp_path: Path) -> None:
    assert not operators_in(_written(tmp_path / "one.py", 'A = {"CONV_2D": 1}'))
    assert operators_in(_written(tmp_path / "two.py", text))


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


WINDOW = {"kernel", "kernel_shape", "kernel_params", "kernel_type"}  # of windows, or vectors


def kernels_in(path: Path) -> list[str]:
    """Return the places of a file that speak of kernels, but for those of windows."""
    with tokenize.open(path) as file:
        tokens = list(tokenize.generate_tokens(file.readline))
    said = [t for t in tokens if "kernel" in t.string.lower()]
    return [f"{path}:{t.start[0]}: {t.string}" for t in said if t.string.strip("\"'") not in WINDOW]


def test_frontends_know_of_no_kernel() -> None:
    """A frontend says what a file says; what a kernel needs is a rewrite, or scratch."""
    assert [place for path in files("frontends") for place in kernels_in(path)] == []
    assert [n for p in files("frontends") for n in imports(p) if "targets.core.kernels" in n] == []


@pytest.mark.parametrize(
    "text", ["# as kernels read it", '"""Spread out for a kernel."""', "def f(kernel_rules): pass"]
)
def test_kernels_are_seen(text: str, tmp_path: Path) -> None:
    assert not kernels_in(_written(tmp_path / "one.py", "kernel = node.get('kernel_shape')"))
    assert kernels_in(_written(tmp_path / "two.py", text))


def test_no_second_copy_of_a_room_is_loaded() -> None:
    """`import dialects` beside `import memopt.dialects` would make every class twice."""
    code = f"""
import importlib, pkgutil, sys, memopt
for info in pkgutil.walk_packages(memopt.__path__, "memopt."):
    importlib.import_module(info.name)
print(len([m for m in sys.modules if m.startswith("memopt.")]))
print([m for m in sys.modules if m.split(".")[0] in {ROOMS}])
"""
    count, bare = run_python(code).splitlines()
    assert int(count) > 50
    assert bare == "[]"


@pytest.mark.parametrize(
    "code",
    [
        "import memopt.cli.opt",
        "from memopt.cli.opt import main; main(['--version'])",
        "from memopt.cli.opt import main; main(['--list-passes'])",
        "from memopt.cli.opt import main; main(['--show-dialects'])",
        "from memopt.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from xdsl.universe import Universe; Universe.get_multiverse()",
    ],
)
def test_start_up_loads_nothing_heavy(code: str) -> None:
    printed = run_python(f"{code}\nimport sys\nprint([m for m in {HEAVY} if m in sys.modules])")
    assert printed.splitlines()[-1] == "[]"
