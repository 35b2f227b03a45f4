// What may be added up in one buffer: sums of products that nobody else reads, reals in their order.
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=source %s

// expected-error@unknown {{memgraph.accumulate: an operand is no sum, which could be added to what is there}}
func.func @no_products(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %y = memgraph.accumulate %a, %b : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}
// -----
// expected-error@unknown {{memgraph.accumulate: an operand is no sum, which could be added to what is there}}
!w = tensor<4x4xf32>
func.func @an_activation(%a: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %w = memgraph.constant dense<1.0> : !w
  %p = memgraph.fully_connected %a, %w : (tensor<1x4xf32>, !w) -> tensor<1x4xf32>
  %q = memgraph.fully_connected %a, %w activation<relu> : (tensor<1x4xf32>, !w) -> tensor<1x4xf32>
  %y = memgraph.accumulate %p, %q : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}
// -----
// expected-error@unknown {{memgraph.accumulate: q is read elsewhere too, but it is no buffer alone}}
!w = tensor<4x4xf32>
func.func @read_elsewhere(%a: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %w = memgraph.constant dense<1.0> : !w
  %p = memgraph.fully_connected %a, %w : (tensor<1x4xf32>, !w) -> tensor<1x4xf32>
  %q = memgraph.fully_connected %a, %w {memgraph.names = ["q"]} : (tensor<1x4xf32>, !w) -> tensor<1x4xf32>
  %y = memgraph.accumulate %p, %q : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %y, %q : tensor<1x4xf32>, tensor<1x4xf32>
}
// -----
// expected-error@unknown {{memgraph.accumulate: p is read elsewhere too, but it is no buffer alone}}
!w = tensor<4x4xf32>
func.func @twice(%a: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %w = memgraph.constant dense<1.0> : !w
  %p = memgraph.fully_connected %a, %w {memgraph.names = ["p"]} : (tensor<1x4xf32>, !w) -> tensor<1x4xf32>
  %y = memgraph.accumulate %p, %p : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}
