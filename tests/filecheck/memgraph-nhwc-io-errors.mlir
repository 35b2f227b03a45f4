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
