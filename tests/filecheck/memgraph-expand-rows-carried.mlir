// Layers that go through a sequence: each row reads the row before it, wherever that lies.
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" -o %t.mlir %s
// RUN: filecheck %s < %t.mlir
// RUN: memopt-opt -p "memgraph-verify-plan{placed=true}" %t.mlir | filecheck %s
// RUN: memopt-opt -t c %t.mlir | filecheck %s --check-prefix=C
// An input that arrives in rows is never there as a whole.
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-expand-rows{stream-input=true},memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefix=STREAM
// Nothing stays from a run to the next: each begins at the initial state.
// RUN: not memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-expand-rows{stream-input=true},memgraph-slide{rows=1}" %s 2>&1 | filecheck %s --check-prefix=SLIDE
// The verifier has its own reading of which row a row takes.
// RUN: sed "s/(%x_3, %h_2)/(%x_3, %h_1)/" %t.mlir > %t.wrong.mlir
// RUN: not memopt-opt -p "memgraph-verify-plan{placed=true}" %t.wrong.mlir 2>&1 | filecheck %s --check-prefix=WRONG

// CHECK: peak = 44, lower_bound = 44, proof = flow, family = rows
// CHECK: %h_1 = memgraph.row %h[0] (%x_1) {
// CHECK: %h_2 = memgraph.row %h[1] (%x_2, %h_1) {
// CHECK: %y_2 = memgraph.row %y[1] (%h_2, %y_1) {
// C: {memopt_rnn_layer_f32, &op0_params
// C: {memopt_lstm_layer_f32, &op1_params
// STREAM: peak = 36,
// STREAM: memgraph.receive %x[0]
// SLIDE: error: memgraph-slide: no row is in the run before: rnn_layer (h) makes other rows
// WRONG: row 2 of memgraph.rnn_layer does not take the row before it
!x = tensor<1x4x2xf32>
!h = tensor<1x4x1xf32>
!y = tensor<1x4x4xf32>
func.func @main(%x: !x) -> tensor<1x1x4xf32> {
  %w = memgraph.constant dense<0.5> : tensor<1x2xf32>
  %r = memgraph.constant dense<0.25> : tensor<1x1xf32>
  %b = memgraph.constant dense<0.0> : tensor<1xf32>
  %v = memgraph.constant dense<0.5> : tensor<8x1xf32>
  %s = memgraph.constant dense<0.25> : tensor<8x2xf32>
  %c = memgraph.constant dense<0.0> : tensor<8xf32>
  %h = memgraph.rnn_layer %x, %w, %r, %b activation<tanh> {memgraph.names = ["h"]} : (!x, tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xf32>) -> !h
  %y = memgraph.lstm_layer %h, %v, %s, %c {memgraph.names = ["y"]} : (!h, tensor<8x1xf32>, tensor<8x2xf32>, tensor<8xf32>) -> !y
  %z = memgraph.slice %y starts [0, 3, 0] strides [1, 1, 1] : (!y) -> tensor<1x1x4xf32>
  func.return %z : tensor<1x1x4xf32>
}
