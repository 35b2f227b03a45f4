"""Rows of virtual tensors that no kernel makes are refused by name."""

import pytest
from xdsl.parser import Parser

from memopt.backends.c.emit.source import emit
from memopt.compile.driver import new_context
from memopt.compile.pipelines import SettledOptions
from memopt.compile.run_passes import Seconds, plan_module
from memopt.dialects.memgraph.errors import MemoptError

RESIZED = """
!a = tensor<1x3x1x4xf32, #memgraph.encoding<nchw>>
!h = tensor<1x1x1x2xf32, #memgraph.encoding<nchw>>
!x = tensor<1x2x1x2xf32, #memgraph.encoding<nchw>>
!y = tensor<1x2x2x4xf32, #memgraph.encoding<nchw>>
!v = tensor<1x3x1x3xf32, #memgraph.encoding<oihw>>
!w = tensor<2x1x1x2xf32, #memgraph.encoding<oihw>>
func.func @main(%x: tensor<1x3x9x4xf32>) -> !y {
  %v = memgraph.constant dense<0.5> : !v
  %w = memgraph.constant dense<0.5> : !w
  %0 = memgraph.reduce_max %x axes [2] keep_dims : (tensor<1x3x9x4xf32>) -> !a
  %1 = memgraph.conv_2d %0, %v window<[1, 3], stride = [2, 2], pad = [0, 2, 0, 0]> groups 1
         : (!a, !v) -> !h
  %2 = memgraph.conv_2d %1, %w window<[1, 2], pad = [0, 1, 0, 0]> groups 1 : (!h, !w) -> !x
  %3, %4 = memgraph.split %2 axis 1 : (!x) -> (!h, !h)
  %5 = memgraph.concat %4, %3 axis 1 : (!h, !h) -> !x
  %6 = memgraph.resize_bilinear %5 : (!x) -> !y
  func.return %6 : !y
}
"""


def test_a_resize_between_two_rows() -> None:
    """A virtual row is made for one reader at a time, and a resize reads two."""
    module = Parser(new_context(), RESIZED).parse_module()
    options = SettledOptions(
        target="host", rows="all", rewrite="all", optimize="balanced", io="caller", alignment=4
    )
    plan_module(new_context(), module, options, Seconds())
    with pytest.raises(MemoptError, match="memopt_resize_bilinear_f32 reads no virtual row"):
        emit(module, "net", "host")
