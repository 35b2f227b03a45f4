"""The native library, built with sanitizers, over hostile inputs."""

import json
import random
import shutil
import subprocess
from array import array
from pathlib import Path

import pytest
from cells import cell
from native import SOURCES, random_strip
from oracles import random_graph, random_order
from placed_parts import random_parts
from random_placements import random_problem

from memopt.solvers.placement import native_best_fit, native_ejections, skyline_beam
from memopt.solvers.placement.native_corners import problem_of
from memopt.solvers.placement.rules import Rules
from memopt.solvers.placement.skyline_corners import CornerSearch
from memopt.solvers.problems.memory_graph import profile
from memopt.solvers.problems.placement import Item
from memopt.solvers.scheduling.best_first import Switches
from memopt.solvers.scheduling.native_search import NativeSearch
from memopt.solvers.theory.ideals import renumber

DRIVER = Path(__file__).with_name("native_driver.cpp")
# Without optimisation all is checked that is written, and it compiles in a third of the time; what
# an optimising compiler warns of is found in test_wheel.py.
FLAGS = ("-std=c++20", "-g1", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-D_GLIBCXX_ASSERTIONS")
MUTATIONS = 20_000
DOWNSETS, CORNERS, EJECTIONS, JSON, ARRAY, BEAMS, BEST_FIT = range(7)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The driver and the library in one program."""
    compiler = shutil.which("g++")
    assert compiler, "`.ci/packages build` installs it"
    program = tmp_path_factory.mktemp("native") / "driver"
    sources = [DRIVER, *sorted(SOURCES.glob("*.cpp"))]
    command = [compiler, *FLAGS, *SANITIZE, f"-I{SOURCES}", *map(str, sources), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def downsets() -> list["array[int]"]:
    """Problems of 0 to 130 operators, by kill-moves and by single operators."""
    rng, streams = random.Random(1), list["array[int]"]()
    for size in (1, 4, 8, 12, 70, 130):
        graph, _ = renumber(random_graph(rng, size))
        peak = profile(graph, random_order(rng, graph)).peak
        switches = Switches(rng.random() < 0.7, rng.random() < 0.8, rng.random() < 0.8)
        streams.append(NativeSearch(graph, 0, peak, switches).problem())
    return streams


def corners() -> list["array[int]"]:
    """Strips of 1 to 300 items, with every rule and with some."""
    rng, streams = random.Random(2), list["array[int]"]()
    for items, sections in ((1, 5), (8, 5), (70, 20), (130, 30), (300, 40)):
        strip = random_strip(rng, items, sections)
        rules = Rules(*(rng.random() < 0.8 for _ in range(7)))
        streams.append(problem_of(CornerSearch(strip, max(strip.loads), rules), 20))
    return streams


def beams() -> list["array[int]"]:
    """Strips of 1 to 130 items, some with bytes to waste."""
    rng, streams = random.Random(4), list["array[int]"]()
    for items, sections in ((1, 5), (8, 5), (30, 20), (130, 30)):
        search = CornerSearch(random_strip(rng, items, sections), 1 << 20)
        streams.append(skyline_beam.problem_of(search.strip, search.skyline, search.budget))
    return streams


def boxes() -> list[tuple[Item, ...]]:
    """Problems of 2 to 60 buffers, with parts and what is fixed."""
    rng = random.Random(3)
    problems = [random_problem(rng, most) for most in (2, 8, 20, 60)]
    problems += [random_parts(rng, most) for most in (4, 20)]
    return [problem.items for problem in problems]


def movable(items: tuple[Item, ...]) -> list[Item]:
    return [i for i in items if i.fixed is None and i.pieces]


def json_graphs() -> list["array[int]"]:
    """Cells, of which some are searched, behind settings like those of small_graphs.py."""
    settings = (16, 1 << 62, 32, 32, 1_000, 256, 64, 8, 8, 32)
    texts = [json.dumps(cell(seed)).encode() for seed in range(6)]
    return [array("q", (len(settings), *settings, *text)) for text in texts]


@pytest.mark.deep
def test_nothing_is_undefined_whatever_the_numbers(driver: Path, fuzz: float) -> None:
    rng = random.Random(4)
    data = b"".join(
        array("q", (kind, len(stream))).tobytes() + stream.tobytes()
        for kind, streams in (
            (DOWNSETS, downsets()),
            (CORNERS, corners()),
            (EJECTIONS, [native_ejections.problem_of(items) for items in boxes()]),
            (JSON, json_graphs()),
            (ARRAY, [array("q", (rng.getrandbits(63) for _ in range(40)))]),
            (BEAMS, beams()),
            (BEST_FIT, [native_best_fit.problem_of(movable(items)) for items in boxes()]),
        )
        for stream in streams
    )
    command = [str(driver), "1", str(max(1_000, int(MUTATIONS * fuzz)))]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    accepted, refused = map(int, done.stdout.split())
    assert accepted > 100 and refused > 100
