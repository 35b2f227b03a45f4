"""`memopt capture FILE.py[:NAME] -o GRAPH.json`: PyTorch, a module or a step of training, in."""

import argparse
import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, cast

from memopt.dialects.memgraph.errors import MemoptError
from memopt.text.diagnostics import write_output
from memopt.text.usage import path_text

DEFAULT = "example"


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "capture",
        help="a PyTorch module or training step as a graph (needs torch)",
        description="Run FILE.py and write what it calls NAME as a JSON graph: a module and a tuple"
        " of example inputs, a memopt.torch.Step, or a function that returns one of the two.",
    )
    parser.add_argument(
        "source", type=path_text, metavar="FILE.py[:NAME]", help=f"default for NAME: {DEFAULT}"
    )
    parser.add_argument(
        "-o", dest="output", type=path_text, required=True, metavar="GRAPH.json", help="- is stdout"
    )


def run(args: argparse.Namespace) -> None:
    """Raises MemoptError for what the file raises, and for what cannot be captured."""
    from memopt.torch import capture
    from memopt.torch.lazy import pytorch

    pytorch()  # before the file says so in its own way
    text, _, name = args.source.rpartition(":")
    path, name = (Path(text), name) if text.endswith(".py") else (Path(args.source), DEFAULT)
    title = path.stem if name == DEFAULT else f"{path.stem}_{name}"
    try:
        named = _named(path, name)
        if isinstance(named, tuple):
            graph = capture(*cast("tuple[Any, ...]", named), name=title)
        else:
            graph = capture(named, name=title)
    except (MemoptError, OSError):
        raise
    except Exception as error:  # of the user's own code, and of what PyTorch says of it
        line = (str(error).splitlines() or [""])[0]
        raise MemoptError(f"{type(error).__name__}: {line}", f"{path}:{name}") from error
    write_output(args.output, json.dumps(graph, indent=1) + "\n", (path,))


def _named(path: Path, name: str) -> Any:
    """Return the object that the file calls `name`; if that is a function of the file, its
    result."""
    path.read_bytes()  # says what is wrong with it
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise MemoptError("is no Python file", str(path))
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # it imports its neighbours
    try:
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        if not hasattr(module, name):
            raise MemoptError(f"has no {name!r}", str(path))
        named: Any = getattr(module, name)
        is_function = callable(named) and not hasattr(named, "named_parameters")
        return named() if is_function else named
    finally:
        sys.path.remove(str(path.parent))
