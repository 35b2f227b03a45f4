// RUN: memopt-opt -p "memgraph-model{target=host},memgraph-schedule,memgraph-place,memgraph-to-memref" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{target=host},memgraph-schedule,memgraph-place" %s -t c-calls | filecheck %s --check-prefix=C

// Operations of ours are calls of C functions, which take what the function takes.
// CHECK: func.func private @net_call_0(memref<32xi8>, memref<4xf32>, memref<2x2xf32>) -> () attributes {llvm.emit_c_interface}
// CHECK: func.func private @net_call_1(memref<32xi8>, memref<4xf32>, memref<2x2xf32>) -> () attributes {llvm.emit_c_interface}
// CHECK: func.func @net(%0: memref<32xi8>, %1: memref<4xf32>, %2: memref<2x2xf32>) {
// CHECK: func.call @net_call_0(%0, %1, %2)
// CHECK: func.call @net_call_1(%0, %1, %2)
// CHECK: "memref.copy"(%{{[0-9]+}}, %2)
// C: void _mlir_ciface_net_call_0(const memopt_memref *at_arena, const memopt_memref *at_input_0, const memopt_memref *at_output_0) {
// C: memopt_clamp_range_f32(&op0_params, &op0_rows, in, arena + {{[0-9]+}}, NULL);
// C: void _mlir_ciface_net_call_1(
func.func @net(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = memgraph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = memgraph.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = memgraph.tanh %1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %2 : tensor<2x2xf32>
}
