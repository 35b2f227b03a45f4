// RUN: not memopt-opt --split-input-file --nhwc-io %s 2>&1 | filecheck %s

// CHECK: @read: error: memgraph-nhwc-io: x is needed channels first; --rewrite=channels-last goes before
!c = tensor<1x2x3x4xf32, #memgraph.encoding<nchw>>
func.func @read(%x: !c) -> tensor<1x24xf32> {
  %0 = memgraph.reshape %x : (!c) -> tensor<1x24xf32>
  func.return %0 : tensor<1x24xf32>
}

// -----
// CHECK: @made: error: memgraph-nhwc-io: avg#0 is made channels first; --rewrite=channels-last goes before
!c = tensor<1x2x3x4xf32, #memgraph.encoding<nchw>>
func.func @made(%x: tensor<1x24xf32>) -> !c {
  %0 = memgraph.reshape %x {memgraph.names = ["avg#0"]} : (tensor<1x24xf32>) -> !c
  func.return %0 : !c
}

// -----
// The types alone do not tell: other bytes, and another order.
// CHECK: @bytes: error: memgraph-nhwc-io: x is needed channels first; --rewrite=channels-last goes before
!c = tensor<1x3x3x3xf32, #memgraph.encoding<nchw>>
!l = tensor<1x3x3x3xf32, #memgraph.encoding<nhwc>>
func.func @bytes(%x: !c) -> !l {
  %0 = memgraph.reshape %x : (!c) -> !l
  func.return %0 : !l
}

// -----
// CHECK: @order: error: memgraph-nhwc-io: x is needed channels first; --rewrite=channels-last goes before
!c = tensor<1x3x3x3xf32, #memgraph.encoding<nchw>>
!l = tensor<1x3x3x3xf32, #memgraph.encoding<nhwc>>
func.func @order(%x: !c) -> !l {
  %0 = memgraph.transpose %x permutation [0, 3, 2, 1] : (!c) -> !l
  func.return %0 : !l
}
