"""Certificates of planned functions: the graph that they speak of, and the file.

The graph is the function's without what scheduling decided (places, in-place aliases that it
chose), its operators in the order of the plan. So anyone can derive
it again from the planned IR and compare hashes.
"""

import os
import sys
from pathlib import Path

from xdsl.dialects.func import FuncOp

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.plan import drop_plan, plan_of
from memopt.passes.plan.extract import extract
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.theory.certificates import NoCertificateError, certificate, certificate_text


def certified_graph(func: FuncOp, assume_pure: bool = False) -> MemoryGraph:
    """The memory graph that a certificate of the flat function `func` speaks of."""
    copy = func.clone()
    drop_plan(copy)
    return extract(copy, assume_pure).graph


def write_certificate(
    func: FuncOp, file: str, time_limit: float | None = None, assume_pure: bool = False
) -> bool:
    """Write the certificate of a function's plan to `file`, or say on stderr why there is none.

    An earlier certificate of that name is removed if there is none. Raises MemoptError for a
    function without a plan or no file's name, OSError if the file cannot be written.
    """
    if file in ("", "-"):
        raise MemoptError(f"certificate={file!r}: name a file")
    plan, place = plan_of(func), f"@{func.sym_name.data}"
    if plan is None:
        raise MemoptError("the function has no plan to certify", place)
    graph = certified_graph(func, assume_pure)
    path = Path(file)
    try:
        proof = certificate(graph, range(len(graph)), plan.lower_bound.data, time_limit)
        text = certificate_text(proof)
    except NoCertificateError as error:
        print(f"{place}: no certificate written to {file}: {error}", file=sys.stderr)
        if _is_certificate(path):
            path.unlink()
        return False
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return True


def _is_certificate(path: Path) -> bool:
    """Return whether there is a certificate as we write them; any other file is not ours to
    remove."""
    head = b'{"format":"memopt certificate'
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(head)) == head
