// RUN: memopt-opt --prepare=frelu --split-input-file %s | filecheck %s
// RUN: memopt-opt -p "memgraph-prepare{conventions=frelu}" --split-input-file %s | filecheck %s
// RUN: memopt-opt --prepare=frelu,view --split-input-file %s | filecheck %s --check-prefix=VIEW
// RUN: not memopt-opt --prepare=relu %s 2>&1 | filecheck %s --check-prefix=WRONG
// WRONG: memgraph-prepare: 'relu' (did you mean frelu?) is not one of: frelu, view

// A typed operation takes the ReLU as its activation, an opaque one says what it lost.
// CHECK-LABEL: @merged
// CHECK-SAME: views = off
// CHECK: %r = memgraph.add %x, %x activation<relu> {memgraph.changed = #memgraph.source<0, 0, []>, memgraph.names = ["r"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %s = memgraph.opaque "Conv"(%r) {memgraph.merged = ["Relu6"], memgraph.names = ["s"]} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: func.return %s
// VIEW-LABEL: @merged
// VIEW-SAME: views = on
func.func @merged(%x: tensor<4xf32>) -> tensor<4xf32> {
  %1 = memgraph.add %x, %x {memgraph.source = #memgraph.source<0, 0, []>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = memgraph.relu %1 {memgraph.names = ["r"]} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = memgraph.opaque "Conv"(%r) : (tensor<4xf32>) -> tensor<4xf32>
  %s = memgraph.opaque "Relu6"(%2) {memgraph.names = ["s"]} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}
// -----
// Not with a second reader, not into an input, not where an activation is taken, not across
// quantizations.
// CHECK-LABEL: @left
// CHECK-COUNT-4: memgraph.relu
func.func @left(%x: tensor<4xf32>, %q: tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi8, #memgraph.encoding<scale = [2.5e-01], zero_point = [3]>>) {
  %a = memgraph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = memgraph.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = memgraph.relu %b : (tensor<4xf32>) -> tensor<4xf32>
  %d = memgraph.mul %b, %c activation<relu6> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = memgraph.relu %d : (tensor<4xf32>) -> tensor<4xf32>
  %f = memgraph.add %q, %q : (tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>, tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>) -> tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
  %g = memgraph.relu %f : (tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>) -> tensor<4xi8, #memgraph.encoding<scale = [2.5e-01], zero_point = [3]>>
  func.return %c, %e, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xi8, #memgraph.encoding<scale = [2.5e-01], zero_point = [3]>>
}
// -----
// A reshape copies unless `view` is asked for; a ReLU looks through it either way.
// CHECK-LABEL: @reshaped
// CHECK: memgraph.opaque "MatMul"(%x) {memgraph.merged = ["Relu"]}
// CHECK-NEXT: memgraph.opaque "Squeeze"({{.*}}) {memgraph.names = ["y"]}
// CHECK-NEXT: func.return
// VIEW-LABEL: @reshaped
// VIEW: memgraph.opaque "MatMul"(%x) {memgraph.merged = ["Relu"]}
// VIEW-NEXT: memgraph.opaque "Squeeze"({{.*}}) {memgraph.names = ["y"], memgraph.alias = {{.*}}#memgraph.alias<operand = 0, kind = view>
func.func @reshaped(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %1 = memgraph.opaque "MatMul"(%x) : (tensor<4xf32>) -> tensor<1x2x2xf32>
  %2 = memgraph.opaque "Squeeze"(%1) : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
  %3 = memgraph.opaque "Relu"(%2) {memgraph.names = ["y"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %3 : tensor<2x2xf32>
}
// -----
// A "Relu" whose result has another shape is not applied element by element; nor is one behind a
// "Reshape" that changes the number of elements applied before it.
// CHECK-LABEL: @wider
// CHECK: memgraph.opaque "Conv"(%x) : (tensor<8xi8>) -> tensor<8xi8>
// CHECK-NEXT: memgraph.opaque "Relu"({{.*}}) : (tensor<8xi8>) -> tensor<16xi8>
// CHECK-NEXT: memgraph.opaque "Conv"({{.*}}) : (tensor<16xi8>) -> tensor<32xi8>
// CHECK: memgraph.opaque "Reshape"({{.*}}) {memgraph.merged = ["Relu"]
func.func @wider(%x: tensor<8xi8>) -> tensor<8xi8> {
  %a = memgraph.opaque "Conv"(%x) : (tensor<8xi8>) -> tensor<8xi8>
  %b = memgraph.opaque "Relu"(%a) : (tensor<8xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "Conv"(%b) : (tensor<16xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "Reshape"(%c) : (tensor<32xi8>) -> tensor<8xi8>
  %e = memgraph.opaque "Relu"(%d) : (tensor<8xi8>) -> tensor<8xi8>
  func.return %e : tensor<8xi8>
}
