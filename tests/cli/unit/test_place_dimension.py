"""`memopt place` of buffers that grow with a dimension: every n is looked at; refusals."""

from itertools import combinations, pairwise
from pathlib import Path
from random import Random

import pytest

from memopt.api.place_csv import placed_family
from memopt.cli import main
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.dimension import Family, at, read_family
from memopt.formats.minimalloc import Row
from memopt.solvers.placement import place
from memopt.solvers.placement.dimension import Growing, grown
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.verify.buffers import spans, stretches, verify_family, verify_rows

CASES = 2_000
HEAD = "id,lower,upper,size(n<=9)"


def family_of(text: str) -> Family:
    family = read_family(text.encode(), "f.csv")
    assert family is not None
    return family


def random_family(random: Random) -> Family:
    """Up to seven buffers that grow, shrink or stay, some with a window or an alignment."""
    largest = random.randint(2, 12)
    lines = [f"id,lower,upper,size(n<={largest}),alignment,gaps"]
    for name in range(random.randint(1, 7)):
        lower = random.randint(0, 5)
        upper = random.randint(lower + 1, 9)
        per = random.choice((0, 1, 2, 3, 5, -1))
        base = random.choice((0, 0, 1, 4, -per)) + (largest if per < 0 else 0)
        size = f"{per}*n{base:+}" if base else f"{per}*n"
        gap = f"{lower}-{lower + 1}" if upper > lower + 1 and random.random() < 0.2 else ""
        lines.append(f"{name},{lower},{upper},{size},{random.choice((1, 1, 4))},{gap}")
    return family_of("\n".join(lines) + "\n")


def test_one_file_is_right_for_every_n(fuzz: float) -> None:
    """Each n by the verifier of plain files, which knows nothing of lines; at the largest n the
    arena is no larger than what is found for it alone if nothing shrinks, and at no n below its
    load."""
    random = Random(41)
    for _ in range(int(CASES * fuzz)):
        family = random_family(random)
        answer = placed_family(family, "auto", None, "f.csv")
        written = family_of(answer.text)
        highest = dict(answer.lines)
        for n in range(1, family.largest + 1):
            arena = verify_rows(written.rows(n))
            line = highest[max(start for start in highest if start <= n)]
            buffers = [
                Buffer(r.name, size, a, b, i)
                for i, (r, a, b, size) in enumerate(
                    (r, *span) for r in family.rows(n) for span in spans(r)
                )
            ]
            assert arena >= PlacementProblem(tuple(buffers)).load
            assert at(line, n) <= arena  # a buffer of no bytes may end above
            shrinks = any(
                a.size > b.size for a, b in zip(family.rows(1), family.rows(n), strict=True)
            )
            if n == family.largest and not shrinks and not any(r.gaps for r in family.rows(n)):
                alone = [
                    Buffer(r.name, r.size, r.lower, r.upper, i, alignment=r.alignment)
                    for i, r in enumerate(family.rows(n))
                ]
                assert at(line, n) <= place(PlacementProblem(tuple(alone))).arena


def meets(a: Row, b: Row, c: Row, d: Row) -> bool:
    """Return whether neither of two buffers, `a` at 1 and `b` at the largest, `c` and `d`, is below
    the other in some step."""
    ends = (a.offset or 0, b.offset or 0), (c.offset or 0, d.offset or 0)
    for (low, high, p), (*_, q) in zip(stretches(a), stretches(b), strict=True):
        for (start, end, r), (*_, s) in zip(stretches(c), stretches(d), strict=True):
            if low < end and start < high and (p or q) and (r or s):
                below = ends[0][0] + p <= ends[1][0] and ends[0][1] + q <= ends[1][1]
                above = ends[1][0] + r <= ends[0][0] and ends[1][1] + s <= ends[0][1]
                if not (below or above):
                    return True
    return False


def test_neighbours_stand_for_all_pairs(fuzz: float) -> None:
    """Buffers of no bytes at either end, equal offsets, windows; and offsets that are found pair by
    pair."""
    random, refused = Random(43), 0
    for _ in range(int(CASES * fuzz)):
        family = random_family(random)
        ends = family.rows(1), family.rows(family.largest)
        growing = [
            Growing(
                tuple((*p, q[2]) for p, q in zip(stretches(a), stretches(b), strict=True)),
                a.alignment,
            )
            for a, b in zip(*ends, strict=True)
        ]
        order = random.sample(range(len(growing)), len(growing))
        growth = grown(growing, family.largest, [order])
        offsets = list(growth.offsets)
        for rank, i in enumerate(order):
            for k, n in enumerate((1, family.largest)):
                highest = max(
                    (
                        at(offsets[j], n) + q[2 + k]
                        for j in order[:rank]
                        for p in growing[i].pieces
                        for q in growing[j].pieces
                        if p[0] < q[1] and q[0] < p[1] and any(p[2:]) and any(q[2:])
                    ),
                    default=0,
                )
                alignment = growing[i].alignment
                exact = -(-highest // alignment) * alignment
                assert at(offsets[i], n) == exact if k else at(offsets[i], n) >= highest
        chosen = random.randrange(len(offsets))
        per = random.choice((0, 1, -1))
        offsets[chosen] = per, random.randint(0, 9) - min(0, per) * family.largest
        moved = family_of(family.placed(offsets))
        try:
            rows = [moved.rows(n) for n in (1, 2, family.largest)]
            for each in rows:
                verify_rows(each)
        except MemoptError:
            continue
        pairs = combinations(zip(rows[0], rows[2], strict=True), 2)
        if any(meets(*one, *other) for one, other in pairs):
            refused += 1
            with pytest.raises(MemoptError, match="change sides, or overlap"):
                verify_family(moved)
        else:
            verify_family(moved)
    assert refused or fuzz < 0.2


def test_the_arena_is_the_highest_of_lines() -> None:
    answer = placed_family(family_of(f"{HEAD}\na,0,1,3*n\nb,2,3,n+10\n"), "auto", None, "f.csv")
    assert answer.lines == ((1, (1, 10)), (6, (3, 0)))
    assert answer.arena == answer.lower_bound == (11, 27)
    assert all(a[0] < b[0] for a, b in pairwise(answer.lines))


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("a,0,2,2,8*n-8\nb,0,2,2,-8*n+72", "'a' and 'b' change sides"),
        ("a,0,2,2*n,0\nb,0,2,4,n+1", "'a' and 'b' overlap"),
        ("a,0,2,4*n,\nb,0,2,4,0", "'a' has no offset"),
    ],
)
def test_what_is_wrong_for_some_n_is_found(rows: str, text: str) -> None:
    with pytest.raises(MemoptError, match=text):
        verify_family(family_of(f"{HEAD},offset\n{rows}\n"))


def test_an_offset_that_is_not_aligned_in_between_is_found() -> None:
    family = family_of(f"{HEAD},alignment,offset\na,0,2,4*n,4,n-1\n")
    assert [row.offset for n in (1, 9) for row in family.rows(n)] == [0, 8]
    with pytest.raises(MemoptError, match="offset 1 is no multiple of the alignment 4"):
        verify_family(family)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}\na,0,2,n*n\n", "f.csv:2: error: size 'n*n' is no a*n+b"),
        (f"{HEAD}\na,0,2,4*m\n", "f.csv:2: error: size '4*m' is no a*n+b"),
        (f"{HEAD}\na,0,2,n-2\n", "f.csv:2: error: size -1 is negative"),
        (f"\n \n{HEAD}\n\na,0,2,-n\n", "f.csv:5: error: size -1 is negative"),
        (f'{HEAD}\na,0,2,"n""\n', "f.csv:2: error: unexpected end of data"),
        (f'{HEAD}\na,0,2,"n"4\n', "f.csv:2: error: ',' expected after '\"'"),
        (f"{HEAD},offset\na,0,2,n,0\n", "fixed offsets are not placed"),
        ("id,lower,upper,size(n<=1)\na,0,2,n\n", "size(n<=1): a dimension goes to 2 or more"),
    ],
)
def test_what_cannot_be_placed_is_refused(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.csv"
    path.write_text(text)
    assert main(["place", str(path)]) == 1
    assert message in capsys.readouterr().err


def test_a_blank_line_and_a_sign_alone_are_read() -> None:
    family = family_of(f"\n \n{HEAD}\na,0,2,-n+14\nb,0,2,+n\n")
    assert [[row.size for row in family.rows(n)] for n in (1, 9)] == [[13, 1], [5, 9]]


def test_a_placed_file_is_verified_and_a_capacity_is_met(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, placed = tmp_path / "f.csv", tmp_path / "placed.csv"
    path.write_text(f"{HEAD}\na,0,2,4*n\nb,1,3,2*n+1\n")
    assert main(["place", str(path), "-o", str(placed), "--capacity=55"]) == 0
    assert main(["verify", str(placed)]) == 0
    assert "correct for every n up to 9: arena 7 B" in capsys.readouterr().out
    assert main(["place", str(path), "--json"]) == 0
    assert '"optimal": true' in capsys.readouterr().out
    assert main(["place", str(path), "--capacity=54"]) == 1
    assert "for some n" in capsys.readouterr().err
    assert main(["place", str(path), "--strategy=shared-objects"]) == 1
    assert "no offsets, so no dimension" in capsys.readouterr().err
