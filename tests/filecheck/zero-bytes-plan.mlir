// Scratch of no bytes may stand within a buffer, or beyond the arena's end: it needs none of it.
// RUN: memopt-opt --split-input-file --verify-plan %s | filecheck %s

// CHECK-LABEL: @inside
// CHECK: #memgraph.scratch<0, 16>
func.func @inside(%x: tensor<32xi8> {memgraph.offset = 0 : i64}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<target = generic, alignment = 16, io = arena, views = on, inplace = off, scratch = none>, memgraph.plan = #memgraph.plan<peak = 48, lower_bound = 48, proof = flow, family = order, arena = 48, arena_lower_bound = 48, fingerprint = "863fcb867110df9fa817e1a14c1ca7cf">} {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<0, 16>], memgraph.order = 0 : i64, memgraph.offset = [32 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %a : tensor<16xi8>
}

// -----

// CHECK-LABEL: @beyond
// CHECK: #memgraph.scratch<0, 4096>
func.func @beyond(%x: tensor<32xi8> {memgraph.offset = 0 : i64}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<target = generic, alignment = 16, io = arena, views = on, inplace = off, scratch = none>, memgraph.plan = #memgraph.plan<peak = 48, lower_bound = 48, proof = flow, family = order, arena = 48, arena_lower_bound = 48, fingerprint = "863fcb867110df9fa817e1a14c1ca7cf">} {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<0, 4096>], memgraph.order = 0 : i64, memgraph.offset = [32 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %a : tensor<16xi8>
}
