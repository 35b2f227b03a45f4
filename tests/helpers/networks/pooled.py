"""A small network of bytes for tests of commands: a rectifier and a pool."""

NETWORK = """
!x = tensor<1x8x8x4xi8, #memgraph.encoding<nhwc, scale = [0.1], zero_point = [3]>>
!y = tensor<1x4x4x4xi8, #memgraph.encoding<nhwc, scale = [0.1], zero_point = [3]>>
func.func @main(%x: !x) -> !y {
  %0 = memgraph.relu %x : (!x) -> !x
  %1 = memgraph.max_pool_2d %0 window<[2, 2], stride = [2, 2]> : (!x) -> !y
  func.return %1 : !y
}
"""
