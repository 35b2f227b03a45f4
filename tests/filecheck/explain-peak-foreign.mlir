// Operators of other dialects have their own names, those that nobody knows here too.
// RUN: memopt-opt --allow-unregistered-dialect --schedule=auto --explain-peak %s 2>&1 >/dev/null | filecheck %s
// CHECK-LABEL: @foreign: peak 96 B in step 2 of 0 .. 2, at "toy.join (toy.join#0)"; live there:
// CHECK-NEXT:              32 B  toy.wide#0 of step 0
// CHECK-NEXT:              32 B  toy.wide#0 of step 1
// CHECK-NEXT:              32 B  toy.join#0
func.func @foreign(%x: tensor<16xi8>) -> tensor<32xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %0 = "toy.wide"(%x) : (tensor<16xi8>) -> tensor<32xi8>
  %1 = "toy.wide"(%x) : (tensor<16xi8>) -> tensor<32xi8>
  %2 = "toy.join"(%0, %1) : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  func.return %2 : tensor<32xi8>
}
