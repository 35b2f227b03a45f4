// RUN: not memopt-opt --split-input-file --int8-io %s 2>&1 | filecheck %s

// CHECK: @read: error: memgraph-int8-io: the input x is not just quantized, so it is needed as it is
!q = tensor<1x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
func.func @read(%x: tensor<1x4xf32>) -> (!q, tensor<1x4xf32>) {
  %0 = memgraph.quantize %x : (tensor<1x4xf32>) -> !q
  %1 = memgraph.relu %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %0, %1 : !q, tensor<1x4xf32>
}

// -----
// CHECK: @real: error: memgraph-int8-io: the output relu#0 is not dequantized last, so it is real
!q = tensor<1x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
func.func @real(%x: !q) -> tensor<1x4xf32> {
  %0 = memgraph.dequantize %x : (!q) -> tensor<1x4xf32>
  %1 = memgraph.relu %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %1 : tensor<1x4xf32>
}
