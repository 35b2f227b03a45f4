// Functions of stablehlo, which xDSL does not have, are planned as its tools print them in generic form.
// RUN: memopt-opt --split-input-file --schedule=auto --place=auto --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --model=inplace=on --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=INPLACE

// A constant is no RAM, and a reshape, or what moves no element, is a view: of 1,568 B only x, %1 and the result are.
// CHECK-LABEL: @views
// CHECK-SAME: peak = 128, lower_bound = 128
// CHECK: "stablehlo.add"(%x, %x) {memgraph.order = 0 : i64
// CHECK-NEXT: "stablehlo.reshape"(%{{[0-9]+}}) {memgraph.offset = {{\[}}[[A:[0-9]+]] : i64]}
// CHECK-NEXT: "stablehlo.broadcast_in_dim"({{.*}} {memgraph.offset = {{\[}}[[A]] : i64]}
// CHECK-NEXT: "stablehlo.transpose"({{.*}} {memgraph.offset = {{\[}}[[A]] : i64]}
// CHECK-NEXT: "stablehlo.constant"() {{.*}}#memgraph.unplaced<constant>
// CHECK-NEXT: "stablehlo.dot_general"({{.*}} {memgraph.order = 1 : i64
func.func @views(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = "stablehlo.constant"() <{value = dense<1.0> : tensor<392xf32>}> : () -> tensor<392xf32>
  %0 = "stablehlo.add"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "stablehlo.reshape"(%0) : (tensor<4x4xf32>) -> tensor<16xf32>
  %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<16xf32>) -> tensor<1x16xf32>
  %3 = "stablehlo.transpose"(%2) <{permutation = array<i64: 1, 0>}> : (tensor<1x16xf32>) -> tensor<16x1xf32>
  %4 = "stablehlo.dot_general"(%3, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>]}> : (tensor<16x1xf32>, tensor<392xf32>) -> tensor<4x4xf32>
  func.return %4 : tensor<4x4xf32>
}
// -----
// A slice in one piece lies in its operand, one in several is copied; operands lie in a concatenation along the first
// dimension, but not in two.
// CHECK-LABEL: @pieces
// CHECK: "stablehlo.exponential"(%x) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]}
// CHECK: "stablehlo.slice"({{.*}}array<i64: 4, 2>{{.*}} {memgraph.order = 1 : i64
// CHECK: "stablehlo.slice"({{.*}}array<i64: 3, 4>{{.*}} {memgraph.offset = [16 : i64]}
// CHECK: "stablehlo.negate"({{.*}}memgraph.offset = {{\[}}[[N:[0-9]+]] : i64]
// CHECK: "stablehlo.concatenate"({{.*}}dimension = 0 : i64}> {memgraph.offset = {{\[}}[[N]] : i64]
func.func @pieces(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x2xf32>) {
  %0 = "stablehlo.exponential"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "stablehlo.slice"(%0) <{limit_indices = array<i64: 3, 4>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %2 = "stablehlo.slice"(%0) <{limit_indices = array<i64: 4, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x4xf32>) -> tensor<4x2xf32>
  %3 = "stablehlo.negate"(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = "stablehlo.tanh"(%3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = "stablehlo.concatenate"(%3, %4) <{dimension = 0 : i64}> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  func.return %5, %2 : tensor<4x4xf32>, tensor<4x2xf32>
}
// -----
// CHECK-LABEL: @two_concatenations
// CHECK: "stablehlo.concatenate"({{.*}}dimension = 0 : i64}> {memgraph.order
// CHECK: "stablehlo.concatenate"({{.*}}dimension = 0 : i64}> {memgraph.order
func.func @two_concatenations(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %3 = "stablehlo.concatenate"(%1, %0) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return %2, %3 : tensor<8xf32>, tensor<8xf32>
}
// -----
// What updates a tensor lies where that lies, as does what is element-wise; not where it reads that another time.
// INPLACE-LABEL: @destinations
// INPLACE: "stablehlo.sine"(%x) {{.*}}memgraph.offset = {{\[}}[[A:[0-9]+]] : i64]
// INPLACE: "stablehlo.dynamic_update_slice"({{.*}}memgraph.offset = {{\[}}[[A]] : i64]
// INPLACE: "stablehlo.negate"({{.*}}memgraph.offset = {{\[}}[[A]] : i64]
// INPLACE: "stablehlo.dynamic_update_slice"(%[[V:[0-9]+]], %[[V]], %i) {memgraph.order = 3 : i64
// INPLACE-NOT: memgraph.offset = {{\[}}[[A]] : i64]
// INPLACE: func.return
func.func @destinations(%x: tensor<8xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %0 = "stablehlo.sine"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "stablehlo.dynamic_update_slice"(%0, %u, %i) : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  %2 = "stablehlo.negate"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = "stablehlo.dynamic_update_slice"(%2, %2, %i) : (tensor<8xf32>, tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
  func.return %3 : tensor<8xf32>
}
// -----
// Pure operations move, those with effects keep their order, and a region of scalars is no buffer; a call may say that
// its result lies where an operand lies.
// CHECK-LABEL: @moves
// CHECK: "stablehlo.iota"() <{iota_dimension = 0 : i64}> {memgraph.order = 0
// CHECK: }) {memgraph.order = 1 : i64{{.*}} -> tensor<4xf32>
// CHECK: "stablehlo.iota"() <{iota_dimension = 1 : i64}> {memgraph.order = 2
// CHECK: }) {memgraph.order = 3 : i64{{.*}} -> tensor<4xf32>
// CHECK: "stablehlo.custom_call"() <{call_target_name = "first", has_side_effect = true}>
// CHECK: "stablehlo.custom_call"() <{call_target_name = "second", has_side_effect = true}>
// CHECK: "stablehlo.negate"({{.*}}memgraph.offset = {{\[}}[[A:[0-9]+]] : i64]
// CHECK-NEXT: "stablehlo.custom_call"({{.*}}memgraph.offset = {{\[}}[[A]] : i64]
func.func @moves(%z: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64x4xf32>
  %1 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<64x4xf32>
  %2 = "stablehlo.reduce"(%0, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<64x4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = "stablehlo.reduce"(%1, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<64x4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = "stablehlo.custom_call"() <{call_target_name = "first", has_side_effect = true}> : () -> tensor<4xf32>
  %5 = "stablehlo.custom_call"() <{call_target_name = "second", has_side_effect = true}> : () -> tensor<4xf32>
  %6 = "stablehlo.negate"(%5) : (tensor<4xf32>) -> tensor<4xf32>
  %7 = "stablehlo.custom_call"(%6) <{call_target_name = "third", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}> : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2, %3, %4, %5, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// -----
// Of several results the largest lies where its operand dies.
// INPLACE-LABEL: @scatter
// INPLACE: "stablehlo.negate"(%x) {{.*}}memgraph.offset = {{\[}}[[A:[0-9]+]] : i64]
// INPLACE: "stablehlo.scatter"
// INPLACE: }) {{.*}}memgraph.offset = {{\[}}[[A]] : i64, {{[0-9]+}} : i64]
func.func @scatter(%i: tensor<2x1xi32>, %x: tensor<8x4xf32>, %y: tensor<8x4xf16>, %u: tensor<2x4xf32>, %v: tensor<2x4xf16>) -> (tensor<8x4xf32>, tensor<8x4xf16>) {
  %0 = "stablehlo.negate"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = "stablehlo.negate"(%y) : (tensor<8x4xf16>) -> tensor<8x4xf16>
  %2, %3 = "stablehlo.scatter"(%0, %1, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f16>, %s: tensor<f32>, %t: tensor<f16>):
    "stablehlo.return"(%s, %t) : (tensor<f32>, tensor<f16>) -> ()
  }) : (tensor<8x4xf32>, tensor<8x4xf16>, tensor<2x1xi32>, tensor<2x4xf32>, tensor<2x4xf16>) -> (tensor<8x4xf32>, tensor<8x4xf16>)
  func.return %2, %3 : tensor<8x4xf32>, tensor<8x4xf16>
}
