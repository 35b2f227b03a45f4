// A plan in a form of before is refused with the sentence how to plan again, wherever it is met first.
// RUN: memopt-opt --split-input-file --verify-diagnostics --verify-plan %s
// RUN: not memopt verify %s 2>&1 | filecheck %s
// CHECK: old-forms-errors.mlir:8:{{[0-9]+}}: error: a plan in an old form (without a family): plan the model again, such as memopt-opt MODEL --schedule=auto --place=auto -o PLAN.mlir

// expected-error@+2 {{a plan in an old form (without a family): plan the model again, such as memopt-opt MODEL --schedule=auto --place=auto -o PLAN.mlir}}
func.func @one_arena(%x: tensor<16xi8> {memgraph.offset = 0 : i64}) attributes {
    memgraph.plan = #memgraph.plan<peak = 16, lower_bound = 16, proof = flow, arena = 16, arena_lower_bound = 16, fingerprint = "">} {
  func.return
}
// -----
// expected-error@+1 {{a plan in an old form (#memgraph.object): plan the model again, such as memopt-opt MODEL --schedule=auto --place=shared-objects -o PLAN.mlir}}
func.func @place(%x: tensor<16xi8> {memgraph.offset = #memgraph.object<0>}) {
  func.return
}
// -----
func.func @scratch(%x: tensor<16xi8>) {
  // expected-error@+1 {{a plan in an old form (#memgraph.object): plan the model again}}
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<16, #memgraph.object<0, 16>>]} : (tensor<16xi8>) -> tensor<16xi8>
  func.return
}
// -----
// expected-error@+1 {{a plan in an old form (with objects): plan the model again, such as memopt-opt MODEL --schedule=auto --place=shared-objects -o PLAN.mlir}}
func.func @objects() attributes {memgraph.plan = #memgraph.plan<peak = 16, lower_bound = 16, proof = flow, arena = 16, arena_lower_bound = 16, objects = [16], objects_lower_bound = 16, fingerprint = "">} {
  func.return
}
// -----
// expected-error@+1 {{a plan in an old form (with objects_lower_bound): plan the model again}}
func.func @objects_of_today(%x: tensor<16xi8>) attributes {memgraph.plan = #memgraph.plan<peak = 16, lower_bound = 16, proof = flow, family = order, arena = 16, arena_lower_bound = 16, objects_lower_bound = 16, fingerprint = "">} {
  func.return
}
// -----
// expected-error@+1 {{a plan in an old form (#memgraph.memories): plan the model again, such as memopt-opt MODEL --schedule=auto --memory=NAME:BYTES,NAME:BYTES -o PLAN.mlir}}
func.func @memories() attributes {memgraph.memories = #memgraph.memories<banks = [#memgraph.bank<dtcm, capacity = 64, cost = 1, arena = 48, moved = 20>], cost = 20, lower_bound = 20, proof = ilp>} {
  func.return
}
