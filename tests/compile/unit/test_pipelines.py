"""The standard pipelines: which passes stand where, by what they do to a network."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from memopt.compile.driver import new_context
from memopt.compile.pipelines import SettledOptions, plan
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import plan_of

PADDED = """
!x = tensor<1x8x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!p = tensor<1x10x6x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!w = tensor<2x3x3x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!b = tensor<2xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
!y = tensor<1x8x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
func.func @main(%x: !x, %w: !w {memgraph.constant}, %b: !b {memgraph.constant}) -> !y {
  %1 = memgraph.pad %x before [0, 1, 1, 0] after [0, 1, 1, 0] value 0.0 : (!x) -> !p
  %2 = memgraph.conv_2d %1, %w, %b window<[3, 3]> groups 1 rounding<tflm_double>
         : (!p, !w, !b) -> !y
  func.return %2 : !y
}
"""


def planned(options: SettledOptions) -> ModuleOp:
    context = new_context()
    module = Parser(context, PADDED).parse_module()
    for step in plan(options):
        step.run.apply(context, module)
    return module


def test_pads_are_inside_the_windows_of_rows_alone() -> None:
    whole, rows = planned(SettledOptions()), planned(SettledOptions(rows="all"))
    assert "memgraph.pad" in {op.name for op in body_of(only_function(whole)).ops}
    assert "memgraph.pad" not in {op.name for op in body_of(only_function(rows)).ops}
    found = plan_of(only_function(rows))
    assert found is not None and found.family.data == "rows"
