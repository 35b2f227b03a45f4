// --explain-peak: the peak's step and tensors, the cut that proves the bound, the tensor to shrink.
// The IR on stdout is not touched.
// RUN: memopt-opt --split-input-file --schedule=auto --explain-peak %s 2>&1 >%t.mlir | filecheck %s
// RUN: filecheck %s --check-prefix=IR < %t.mlir

// IR-LABEL: func.func @proven_by_a_cut
// IR-SAME: memgraph.plan<peak = 24, lower_bound = 24, proof = flow, family = order

// CHECK-LABEL: @proven_by_a_cut: peak 24 B in step 1 of 0 .. 2, at "narrow (u)"; live there:
// CHECK-NEXT:              16 B  t
// CHECK-NEXT:               8 B  u
// CHECK-NEXT: bound 24 B at "narrow (u)" (step 1): no order runs it with less live, here with 1 of the others before it:
// CHECK-NEXT:              16 B  t
// CHECK-NEXT:               8 B  u
// CHECK-NEXT:   so no order is better: proof = flow
// CHECK-NEXT: shrink "t" (16 B): without it the bound is 10 B; no other tensor lowers it more
func.func @proven_by_a_cut(%x: tensor<4xi8>) -> tensor<2xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %t = memgraph.opaque "wide"(%x) {memgraph.names = ["t"]} : (tensor<4xi8>) -> tensor<16xi8>
  %u = memgraph.opaque "narrow"(%t) {memgraph.names = ["u"]} : (tensor<16xi8>) -> tensor<8xi8>
  %y = memgraph.opaque "last"(%u) {memgraph.names = ["y"]} : (tensor<8xi8>) -> tensor<2xi8>
  func.return %y : tensor<2xi8>
}

// -----

// Liberis' Figure 1: what no single cut proves.
// CHECK-LABEL: @only_a_search: peak 4,960 B in step 3 of 0 .. 6, at "op2 (t2)"; live there:
// CHECK-NEXT:           3,136 B  t1
// CHECK-NEXT:           1,568 B  t2
// CHECK-NEXT:             256 B  t6
// CHECK-NEXT: bound 4,704 B at "op2 (t2)" (step 3): no order runs it with less live, here with 1 of the others before it:
// CHECK-NEXT:           3,136 B  t1
// CHECK-NEXT:           1,568 B  t2
// CHECK-NEXT:   256 B below the peak, which only search proves
// CHECK-NEXT: shrink "t1" (3,136 B): without it the bound is 2,080 B; no other tensor lowers it more
func.func @only_a_search(%x: tensor<1568xi8>) -> tensor<512xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %1 = memgraph.opaque "op1"(%x) {memgraph.names = ["t1"]} : (tensor<1568xi8>) -> tensor<3136xi8>
  %2 = memgraph.opaque "op2"(%1) {memgraph.names = ["t2"]} : (tensor<3136xi8>) -> tensor<1568xi8>
  %3 = memgraph.opaque "op3"(%2) {memgraph.names = ["t3"]} : (tensor<1568xi8>) -> tensor<512xi8>
  %4 = memgraph.opaque "op4"(%1) {memgraph.names = ["t4"]} : (tensor<3136xi8>) -> tensor<512xi8>
  %5 = memgraph.opaque "op5"(%3) {memgraph.names = ["t5"]} : (tensor<512xi8>) -> tensor<256xi8>
  %6 = memgraph.opaque "op6"(%4) {memgraph.names = ["t6"]} : (tensor<512xi8>) -> tensor<256xi8>
  %7 = memgraph.opaque "op7"(%5, %6) {memgraph.names = ["t7"]} : (tensor<256xi8>, tensor<256xi8>) -> tensor<512xi8>
  func.return %7 : tensor<512xi8>
}
