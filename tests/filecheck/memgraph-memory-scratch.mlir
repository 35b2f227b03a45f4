// Several memories: each scratch of an operator is a buffer of its own, in the memory that suits it.
// As one block of 48 B the scratches cost 82 in the slow memory, or crowd out the result.
// RUN: memopt-opt --split-input-file --schedule=source --memory=a:48@1,b:64@2 --verify-plan %s | filecheck %s
// Placed once more, or in one arena again.
// RUN: memopt-opt --split-input-file --memory=a:48@1,b:64@2 --memory=a:48@1,b:64@2 --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --memory=a:48@1,b:64@2 --place=auto --verify-plan %s | filecheck %s --check-prefix=ARENA

// CHECK-LABEL: @split
// CHECK-SAME: #memgraph.memory<a, kind = bank, bytes = 48, capacity = 48, cost = 1, moved = 56>, #memgraph.memory<b, kind = bank, bytes = 16, capacity = 64, cost = 2, moved = 10>], traffic = #memgraph.traffic<cost = 76, lower_bound = 76, proof = ilp>
// CHECK: memgraph.scratch = [#memgraph.scratch<20, #memgraph.slot<a, {{[0-9]+}}>>, #memgraph.scratch<5, #memgraph.slot<b, 0>>]
// ARENA-LABEL: @split
// ARENA-SAME: arena = 64
// ARENA: memgraph.scratch = [#memgraph.scratch<20, {{[0-9]+}}>, #memgraph.scratch<5, {{[0-9]+}}>]
func.func @split(%x: tensor<16xi8>) attributes {memgraph.model = #memgraph.model<alignment = 16, io = caller>} {
  %y = memgraph.opaque "op"(%x) {memgraph.scratch = [#memgraph.scratch<20>, #memgraph.scratch<5>]} : (tensor<16xi8>) -> tensor<16xi8>
  func.return
}

// -----

// As one block the 70 B fit into neither memory.
// CHECK-LABEL: @fit
// CHECK-SAME: cost = 258, lower_bound = 258, proof = ilp>
// CHECK: memgraph.scratch = [#memgraph.scratch<40, #memgraph.slot<a, {{[0-9]+}}>>, #memgraph.scratch<30, #memgraph.slot<b, {{[0-9]+}}>>]
// ARENA-LABEL: @fit
func.func @fit(%x: tensor<3xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1, io = caller>} {
  %y = memgraph.opaque "op"(%x) {memgraph.scratch = [#memgraph.scratch<40>, #memgraph.scratch<30>]} : (tensor<3xi8>) -> tensor<29xi8>
  func.return
}

// -----

// One of no bytes lies anywhere.
// CHECK-LABEL: @empty
// CHECK-SAME: cost = 8, lower_bound = 8, proof = ilp>
// CHECK: memgraph.scratch = [#memgraph.scratch<0, #memgraph.slot<a, 0>>, #memgraph.scratch<4, #memgraph.slot<a, 0>>, #memgraph.scratch<0, #memgraph.slot<a, 0>>]
// CHECK: memgraph.scratch = [#memgraph.scratch<0>]
// ARENA-LABEL: @empty
func.func @empty(%x: tensor<16xi8>) attributes {memgraph.model = #memgraph.model<alignment = 4, io = caller>} {
  memgraph.opaque "op"(%x) {memgraph.scratch = [#memgraph.scratch<0>, #memgraph.scratch<4>, #memgraph.scratch<0>]} : (tensor<16xi8>) -> ()
  memgraph.opaque "op"(%x) {memgraph.scratch = [#memgraph.scratch<0>]} : (tensor<16xi8>) -> ()
  func.return
}
