"""`memopt place`, minimalloc's CSV, and the check of placed rows."""

import json
from pathlib import Path

import pytest

from memopt.api.place_csv import STRATEGIES, problem_of, solve
from memopt.cli import main
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.minimalloc import Gap, Row, read_rows, write_rows
from memopt.verify.buffers import verify_rows

README = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"
GAPS = (
    "id,lower,upper,size,alignment,gaps,offset\n"
    "b1,0,9,4096,16,3-5 6-7@0:1024,\n"
    "b2,3,5,4000,1,,0\n"
    "b3,6,7,3072,16,,\n"
)


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "example.csv"
    path.write_text(README)
    return path


# -- the format -----------------------------------------------------------------------------------


def test_columns_in_any_order_under_all_their_names() -> None:
    expected = (Row("1", 6, 12, 18), Row("0", 5, 10, 15))
    for text in (
        "lower,size,id,upper\n6,18,1,12\n5,15,0,10\n",
        "start,size,buffer,end\n6,18,1,11\n5,15,0,9\n",  # `end` is inclusive
        "begin,size,buffer_id,upper,hint\r\n6,18,1,12,3\r\n5,15,0,10,\r\n",
        "\ufefflower,size,id,upper\n6,18,1,12\n\n5,15,0,10",
    ):
        assert read_rows(text.encode(), "x") == expected


def test_gaps_alignment_and_offsets_there_and_back() -> None:
    rows = read_rows(GAPS.encode(), "x")
    assert rows[0] == Row("b1", 0, 9, 4096, 16, (Gap(3, 5), Gap(6, 7, 1024)), None)
    assert rows[1].offset == 0
    assert write_rows(rows) == GAPS
    closed = "start,size,buffer,end,gaps\n5,15,0,9,7-8 9-9\n"
    assert read_rows(closed.encode(), "x")[0].gaps == (Gap(7, 9), Gap(9, 10))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x: empty"),
        ("id,lower,upper\n", "x:1: column 'size' is missing"),
        ("id,lower,upper,size,upper\n", "x:1: column 'upper' is there twice"),
        ("id,lower,upper,size,end\n", "x:1: column 'upper' is there twice"),
        ("id,lower,upper,size,color\n", "x:1: unknown column 'color'"),
        (README + "b6,1,2\n", "x:7: 3 fields, the header has 4"),
        (README + "b6,1,2,4,5\n", "x:7: 5 fields, the header has 4"),
        (README + "b6,1,2,4.5\n", "x:7: size '4.5' is no whole number"),
        (README + "b6,1,2,\n", "x:7: size '' is no whole number"),
        (README + "b6,1,2,-4\n", "x:7: size -4 is negative"),
        (README + "b6,2,2,4\n", "x:7: the live range [2, 2) is empty"),
        (README + f"b6,1,2,{1 << 61}\n", "is too large"),
        (README + f"b6,1,2,{'9' * 5000}\n", "is too large"),
        (README + f"b6,1,2,{1 << 60}\n" * 5, "x:10: with 'b6' the buffers may need "),
        ("id,lower,upper,size,alignment\na,0,1,4,0\n", "x:2: alignment 0 is not positive"),
        ("id,lower,upper,size,alignment,offset\na,0,1,4,8,4\n", "x:2: offset 4 is no multiple"),
        ("id,lower,upper,size,offset\na,0,1,4,-8\n", "x:2: offset -8"),
        ("id,lower,upper,size,gaps\na,0,9,4,1-2-3\n", "x:2: gap '1-2-3': write lower-upper"),
        ("id,lower,upper,size,gaps\na,0,9,4,1-3 2-4\n", "x:2: gap 2-4 is empty, outside"),
        ("id,lower,upper,size,gaps\na,0,9,4,8-10\n", "x:2: gap 8-10 is empty, outside"),
        ("id,lower,upper,size,gaps\na,0,9,4,1-2@1:3\n", "does not start at 0 is unsupported"),
        ("id,lower,upper,size,gaps\na,0,9,4,1-2@0:5\n", "larger than the buffer"),
        ('id,lower,upper,size\n"a,0,1,4\n', "x:2: "),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(text: str, message: str) -> None:
    with pytest.raises(MemoptError) as caught:
        read_rows(text.encode(), "x")
    assert message in f"{caught.value.place}: {caught.value.text}"


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(MemoptError, match="not UTF-8"):
        read_rows(b"id,lower\xff", "x")


# -- the check ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((Row("a", 0, 2, 4), Row("b", 1, 3, 4, offset=0)), "'a' has no offset"),
        ((Row("a", 0, 2, 4, offset=0), Row("b", 1, 3, 4, offset=3)), "'a' and 'b' overlap"),
        ((Row("a", 0, 2, 4, 4, offset=2),), "'a': offset 2 is not aligned"),
        ((Row("a", 0, 2, 4, offset=-4),), "'a': offset -4 is not aligned"),
        (
            (Row("a", 0, 9, 8, gaps=(Gap(3, 6, 2),), offset=0), Row("b", 3, 6, 4, offset=1)),
            "'a' and 'b' overlap",
        ),
    ],
)
def test_seeded_bugs_are_found(rows: tuple[Row, ...], message: str) -> None:
    with pytest.raises(MemoptError, match=message):
        verify_rows(rows)


def test_what_may_lie_over_one_another() -> None:
    gap = Row("a", 0, 9, 8, gaps=(Gap(3, 6, 2),), offset=0)
    assert verify_rows((gap, Row("b", 3, 6, 6, offset=2))) == 8
    assert verify_rows((gap, Row("c", 9, 10, 9, offset=0))) == 9
    assert verify_rows((gap, Row("z", 0, 9, 0, offset=4))) == 8
    assert verify_rows(()) == 0


# -- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_places_the_example_of_minimalloc(
    example: Path, tmp_path: Path, strategy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    arguments = ["place", str(example), f"--strategy={strategy}", "-o", str(out), "--json"]
    assert main(arguments) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["arena"] == report["lower_bound"] == 12
    assert report["optimal"] is True and report["fits"] is None
    placed = read_rows(out.read_bytes(), "out")
    assert verify_rows(placed) == 12
    assert out.read_text().splitlines()[0] == "id,lower,upper,size,offset"
    assert main(["verify", str(out)]) == 0
    assert "5 buffers are correct: arena 12 B" in capsys.readouterr().out


def test_text_for_people(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["place", str(example), "--capacity=1K"]) == 0
    out = capsys.readouterr().out
    assert "arena     12 B (0.0 KiB), smallest possible" in out
    assert "1,012 B are left" in out


def test_gaps_are_used(tmp_path: Path) -> None:
    answer = solve(read_rows(GAPS.encode(), "x"), "exact", None)
    assert answer.arena == answer.lower_bound == 4096
    problem, first = problem_of(read_rows(GAPS.encode(), "x"))
    assert len(problem.buffers) == 6 and first == (0, 4, 5)


def test_what_does_not_fit(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    assert main(["place", str(example), "--capacity=11", "-o", str(out), "--json"]) == 1
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["fits"] is False and report["infeasible"] is True
    assert "does not fit into 11 B" in shown.err and "proven, at least 12 B" in shown.err
    assert shown.err.count("\n") == 1
    assert not out.exists()


def test_what_a_greedy_strategy_does_not_fit_is_not_proven(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "holes.csv"
    path.write_text("id,lower,upper,size\nx,0,1,4\na,0,2,12\nb,1,3,16\nc,2,4,20\n")
    assert main(["place", str(path), "--capacity=36", "--strategy=tflite"]) == 1
    error = capsys.readouterr().err
    assert "the best found needs 52 B" in error and "this is not proven" in error
    assert main(["place", str(path), "--capacity=36"]) == 0


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--strategy=luck"], 2, "--strategy=luck: one of auto, best-fit"),
        (["--capacity=lots"], 2, "write 65536, 64K or 1M"),
        (["--time-limit=0"], 2, "more than 0"),
        (["--time-limit=nan"], 2, "more than 0"),
        (["-o", "/nowhere/out.csv"], 1, "/nowhere/out.csv: error: No such file"),
    ],
)
def test_refusals(
    example: Path, more: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["place", str(example), *more]) == code
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_missing_and_broken_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing, broken = tmp_path / "missing.csv", tmp_path / "broken.csv"
    broken.write_text(README + "b6,1,2,x\n")
    assert main(["place", str(missing)]) == 1
    assert f"{missing}: error: No such file" in capsys.readouterr().err
    for command in ("place", "verify"):
        assert main([command, str(broken)]) == 1
        assert f"{broken}:7: error: size 'x' is no whole number" in capsys.readouterr().err


def test_verify_finds_an_overlap_and_refuses_a_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "placed.csv"
    path.write_text("id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\n")
    assert main(["verify", str(path)]) == 1
    assert "buffers 'a' and 'b' overlap" in capsys.readouterr().err
    assert main(["verify", str(path), "--certificate", "x"]) == 2


NETWORK = """
func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> attributes {
    memgraph.model = #memgraph.model<inplace = on>} {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<24>]}
      : (tensor<64xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a : (tensor<64xi8>) -> tensor<8x8xi8>
  %r = memgraph.relu %v : (tensor<8x8xi8>) -> tensor<8x8xi8>
  %w = memgraph.reshape %r : (tensor<8x8xi8>) -> tensor<64xi8>
  func.return %w : tensor<64xi8>
}
"""


@pytest.mark.parametrize("steps", [["--schedule=auto", "--place=auto"], ["--schedule=auto"], []])
def test_exports_are_read_back(
    steps: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """-t minimalloc-csv: in-place results and views are one line with what they lie on."""
    from memopt.cli.opt import main as opt

    source, out = tmp_path / "net.mlir", tmp_path / "plan.csv"
    source.write_text(NETWORK)
    assert opt([*steps, "-t", "minimalloc-csv", str(source), "-o", str(out)]) == 0
    rows = read_rows(out.read_bytes(), "plan")
    assert all((r.offset is not None) == (len(steps) == 2) for r in rows)
    if len(steps) == 2:
        assert verify_rows(rows) == 160
    if steps:
        assert [(r.name, r.lower, r.upper) for r in rows][:2] == [("x", 0, 1), ("a", 0, 2)]
        assert main(["place", str(out), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["arena"] == 160


def test_a_smaller_result_in_place_leaves_a_gap(tmp_path: Path) -> None:
    """An int8 result over a float32 operand: after the step only a quarter is held."""
    from memopt.cli.opt import main as opt

    source, out = tmp_path / "net.mlir", tmp_path / "plan.csv"
    source.write_text("""
func.func @main(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<64xi8>) -> tensor<64xi8>
  %b = memgraph.opaque "B"(%a) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]}
      : (tensor<64xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%b) : (tensor<16xi8>) -> tensor<48xi8>
  %d = memgraph.opaque "D"(%c) : (tensor<48xi8>) -> tensor<16xi8>
  func.return %d : tensor<16xi8>
}
""")
    arguments = ["--place=auto", "-t", "minimalloc-csv", str(source), "-o", str(out)]
    assert opt(arguments) == 0
    rows = read_rows(out.read_bytes(), "plan")
    assert rows[1].gaps == (Gap(2, 3, 16),)
    assert verify_rows(rows) == 128


# One arena of 12 B is enough; shared objects need 8 + 6.
APART = "id,lower,upper,size\na,0,2,4\nb,1,3,8\nc,2,4,4\nd,3,5,6\ne,4,5,6\n"


def test_what_shared_objects_need_says_nothing_of_one_arena(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "apart.csv"
    path.write_text(APART)
    command = ["place", str(path), "--strategy=shared-objects"]
    assert main(["place", str(path), "--strategy=exact", "--capacity=12"]) == 0
    assert main(command) == 0
    assert "14 B (0.0 KiB), smallest possible for shared objects" in capsys.readouterr().out
    assert main([*command, "--capacity=13", "--json"]) == 1
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert (report["fits"], report["infeasible"], report["lower_bound"]) == (False, False, 14)
    assert "shared objects need at least 14 B (0.0 KiB), proven; one arena may" in captured.err
    assert main([*command, "--capacity=11", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["infeasible"] is True
    assert "proven, at least 12 B (0.0 KiB) are needed" in captured.err


def test_an_arena_that_no_file_can_say_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "big.csv", tmp_path / "out.csv"
    size = 1 << 60
    path.write_text(f"id,lower,upper,size\na,0,2,{size}\nb,1,3,{size}\n")
    assert main(["place", str(path), "-o", str(out)]) == 1
    assert capsys.readouterr().err == f"{path}: error: the arena of {2 * size} B is too large\n"
    assert not out.exists()
