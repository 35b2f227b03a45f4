"""The drawing of a network: boxes in layers, lines for tensors, nothing of a hostile name."""

import re

import pytest

from memopt.backends.report.network import MOST, Network, network_svg


def boxes(svg: str) -> list[tuple[float, float]]:
    """The corner of each box."""
    corners = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"', svg)
    return [(float(x), float(y)) for x, y in corners]


def network(count: int, *edges: tuple[int, int]) -> Network:
    return Network(tuple((f"{i} relu", f"t{i}") for i in range(count)), edges)


def test_operators_stand_below_what_they_read_and_apart_from_each_other() -> None:
    drawn = boxes(network_svg(network(5, (0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (0, 4))))
    heights = [y for _, y in drawn]
    assert heights[0] < heights[1] == heights[2] < heights[3] < heights[4]
    assert abs(drawn[1][0] - drawn[2][0]) >= 176 + 20


def test_a_tensor_that_passes_a_layer_goes_round_its_box() -> None:
    svg = network_svg(network(3, (0, 1), (1, 2), (0, 2)))
    lines = re.findall(r'd="M([\d.]+) [\d.]+C([\d.]+)', svg)
    assert [start == bend for start, bend in lines] == [True, True, False]


@pytest.mark.parametrize("count", [0, MOST + 1])
def test_none_or_too_many_are_not_drawn(count: int) -> None:
    assert network_svg(network(count)) == ""


def test_names_are_text() -> None:
    svg = network_svg(Network((("0 <b>", '"><script>'),), ()))
    assert "<script>" not in svg
    assert "&lt;script&gt;" in svg
