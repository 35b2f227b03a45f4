// What regions and callees work in is counted before a plan is right.
// RUN: memopt-opt --split-input-file --verify-diagnostics --outline --schedule=auto --place=auto --verify-plan %s

func.func @frame(%p: tensor<i1>, %x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error@+1 {{stablehlo.if runs @frame_if, whose arena of 64 B is not counted; run memgraph-branches}}
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<16xf32>
    %2 = stablehlo.tanh %1 : tensor<16xf32>
    stablehlo.return %2 : tensor<16xf32>
  }, {
    stablehlo.return %x : tensor<16xf32>
  }) : (tensor<i1>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
// -----
func.func @called(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error@+1 {{func.call runs @callee, whose arena of 64 B is not counted; run memgraph-branches}}
  %0 = call @callee(%x) : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @callee(%x: tensor<16xf32>) -> tensor<16xf32> {
  %1 = stablehlo.negate %x : tensor<16xf32>
  %2 = stablehlo.tanh %1 : tensor<16xf32>
  return %2 : tensor<16xf32>
}
// -----
func.func @next(%x: tensor<16xf32>, %p: tensor<i1>) -> tensor<16xf32> {
  // expected-error@+1 {{stablehlo.while runs @next_while, whose arena of 0 B is not counted; run memgraph-branches}}
  %0 = stablehlo.while(%a = %x) : tensor<16xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.negate %a : tensor<16xf32>
    stablehlo.return %1 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
}
// -----
// What a region ends with is put where the results are, so it takes no more bytes.
func.func @larger(%p: tensor<i1>, %x: tensor<64xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.if: the types of func.call#0 are not those of its results}}
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<64xf32>
    "stablehlo.return"(%1) : (tensor<64xf32>) -> ()
  }, {
    "stablehlo.return"(%x) : (tensor<64xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @fewer(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.while: the types of x are not those of its results}}
  %0:2 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}
