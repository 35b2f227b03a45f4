// What the verifier accepts: plans of ours, and plans that another planner wrote.
// RUN: memopt-opt --split-input-file --schedule=source --place=tflm --verify-plan %s | memopt-opt --split-input-file -p "memgraph-verify-plan{placed=true}" | filecheck %s
// A plan goes stale when anything that it rests on changes: canonicalize deletes the dead operator.
// RUN: memopt-opt --split-input-file --schedule=auto --place=auto %s -o %t.mlir
// RUN: not memopt-opt --split-input-file -p "canonicalize,memgraph-verify-plan" %t.mlir 2>&1 | filecheck %s --check-prefix=STALE
// STALE: @dead: error: stale plan: the function has changed since it was planned
// Names and sources do not count.
// RUN: sed "s/%%x/%%renamed/" %t.mlir > %t.renamed.mlir
// RUN: memopt-opt --split-input-file --verify-plan %t.renamed.mlir | filecheck %s

// CHECK-LABEL: @dead
func.func @dead(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = memgraph.relu %x : (tensor<16xi8>) -> tensor<16xi8>
  %b = memgraph.relu %x : (tensor<16xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// CHECK-LABEL: @kept
func.func @kept(%x: tensor<16xi8>) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<io = kept>} {
  %a = memgraph.relu %x : (tensor<16xi8>) -> tensor<16xi8>
  func.return %a : tensor<16xi8>
}
