// Text of other tools that is not read is refused with the command that makes it generic.
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=source %s

func.func @stablehlo(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  // expected-error@+1 {{this form of stablehlo.gather is not read; print the file with `stablehlo-opt --mlir-print-op-generic`}}
  %0 = stablehlo.gather(%x, %i), offset_dims = [0] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
func.func @tosa(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{this form of tosa.exp is not read; print the file with `mlir-opt --mlir-print-op-generic`}}
  %0 = tosa.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @linalg(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{this form of linalg.softmax is not read; print the file with `mlir-opt --mlir-print-op-generic`}}
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// -----
func.func @onnx(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{this form of onnx.Relu is not read; print the file with `onnx-mlir-opt --mlir-print-op-generic`}}
  %0 = onnx.Relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// An operation that the dialect's file does not have is none.
func.func @misspelt(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{Operation tosa.exq is not registered (did you mean tosa.exp?)}}
  %0 = "tosa.exq"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// A type that no release has there is an error of xDSL's.
func.func @own(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{index should be of base attribute tensor}}
  %0 = tosa.add %x, %x : (tensor<4xf32>, index) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.while has the buffer b in a region, which is not planned; run --outline first}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %c = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    %b = "stablehlo.negate"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%b) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @tuple(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.custom_call makes a tuple, of which no part is planned}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  return %x : tensor<4xf32>
}
// -----
// Of what is wrong in a region that region says more than the form around it.
func.func @inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.while(%a = %x) : tensor<4xf32> cond {
    // expected-error@+1 {{this form of stablehlo.gather is not read}}
    %1 = stablehlo.gather %a
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @inside_tosa(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %0 = tosa.cond_if %c -> (tensor<4xf32>) {
    // expected-error@+1 {{this form of tosa.exp is not read}}
    %1 = tosa.exp %x : tensor<4xf32>
    tosa.yield %1 : tensor<4xf32>
  } else {
    tosa.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @counts(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{this form of stablehlo.while is not read}}
  %0 = stablehlo.while(%a = %x) : tensor<4xf32>, tensor<4xf32> cond {
  } do {
  }
  return %0 : tensor<4xf32>
}
