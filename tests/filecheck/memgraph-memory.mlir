// Several memories: slots instead of offsets, capacities kept, traffic at its least.
// RUN: memopt-opt --split-input-file --schedule=source --memory=fast:96,slow:1K@4 --verify-plan %s | filecheck %s --check-prefixes=CHECK,SPILL
// RUN: memopt-opt --split-input-file -p "memgraph-memory{banks=fast:96@1,slow:1024@4 spill=false},memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefixes=CHECK,STAY
// RUN: memopt-opt --split-input-file --schedule=source --memory=fast:96,slow:1K@4 %s | memopt-opt --split-input-file --verify-plan | filecheck %s
// RUN: memopt-opt --split-input-file --memory=fast:96,slow:1K@4 --memory=fast:96,slow:1K@4 --verify-plan %s | filecheck %s --check-prefixes=CHECK,SPILL
// One arena again: the memories are gone.
// RUN: memopt-opt --split-input-file --memory=fast:96,slow:1K@4 --place=auto --verify-plan %s | filecheck %s --check-prefix=PLACE
// PLACE-NOT: memories =
// PLACE-NOT: memgraph.slot
// PLACE-NOT: memgraph.copy
// So are the moves, whatever plans next: @spill needs 128 B without them.
// RUN: memopt-opt --split-input-file --memory=fast:96,slow:1K@4 --schedule=auto --verify-plan %s | filecheck %s --check-prefix=AGAIN
// RUN: memopt-opt --split-input-file --memory=fast:96,slow:1K@4 --place=joint --verify-plan %s | filecheck %s --check-prefix=AGAIN
// RUN: memopt-opt --split-input-file --memory=fast:96,slow:1K@4 --place=shared-objects --verify-plan %s | filecheck %s --check-prefix=NONE
// AGAIN-LABEL: @spill
// AGAIN-SAME: peak = 128, lower_bound = 128, proof = flow
// AGAIN-NOT: memgraph.copy
// NONE-LABEL: @spill
// NONE-NOT: memgraph.copy

// The wide one does not fit into the fast memory, the others do. Costs: K = 1024, the second twice the first.
// RUN: memopt-opt --split-input-file --memory=fast:96,slow:1K %s | filecheck %s --check-prefix=DEFAULT
// DEFAULT-LABEL: @wide
// DEFAULT-SAME: #memgraph.memory<fast, kind = bank, bytes = 96, capacity = 96, cost = 1, moved = 176>, #memgraph.memory<slow, kind = bank, bytes = 128, capacity = 1024, cost = 2, moved = 256>
// CHECK-LABEL: @wide
// CHECK-SAME: %x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, {{[0-9]+}}>}
// CHECK-SAME: arena = 224, arena_lower_bound = 176
// CHECK-SAME: memories = [#memgraph.memory<fast, kind = bank, bytes = 96, capacity = 96, cost = 1, moved = 176>, #memgraph.memory<slow, kind = bank, bytes = 128, capacity = 1024, cost = 4, moved = 256>], traffic = #memgraph.traffic<cost = 1200, lower_bound = 1200, proof = ilp>
// CHECK: "A"{{.*}}memgraph.offset = [#memgraph.slot<fast, {{[0-9]+}}>]
// CHECK: "B"{{.*}}memgraph.offset = [#memgraph.slot<slow, 0>]
// CHECK: "C"{{.*}}memgraph.offset = [#memgraph.slot<fast, {{[0-9]+}}>]
func.func @wide(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<32xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%b, %a) : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// %t is read again and again, but not while the fast memory is full of %u: it is spilled, or it stays
// in the slow memory all the time, if nothing may move.
// CHECK-LABEL: @spill
// SPILL-SAME: cost = 1392, lower_bound = 1392, proof = ilp
// STAY-SAME: cost = 1648, lower_bound = 1648, proof = ilp
// SPILL: "T"(%x) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]}
// STAY: "T"(%x) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]}
// STAY-NOT: memgraph.copy
// SPILL: %t_fast = memgraph.copy %t {memgraph.names = ["t in fast"], memgraph.offset = [#memgraph.slot<fast, {{[0-9]+}}>], memgraph.order = 5 : i64} : (tensor<64xi8>) -> tensor<64xi8>
// SPILL-NEXT: "R"(%{{.*}}, %t_fast)
// SPILL: "R"(%{{.*}}, %t_fast)
func.func @spill(%x: tensor<16xi8>) -> tensor<16xi8> {
  %t = memgraph.opaque "T"(%x) : (tensor<16xi8>) -> tensor<64xi8>
  %u = memgraph.opaque "U"(%x) : (tensor<16xi8>) -> tensor<80xi8>
  %v0 = memgraph.opaque "V"(%u) : (tensor<80xi8>) -> tensor<16xi8>
  %v1 = memgraph.opaque "V"(%u, %v0) : (tensor<80xi8>, tensor<16xi8>) -> tensor<16xi8>
  %v2 = memgraph.opaque "V"(%u, %v1) : (tensor<80xi8>, tensor<16xi8>) -> tensor<16xi8>
  %r0 = memgraph.opaque "R"(%v2, %t) : (tensor<16xi8>, tensor<64xi8>) -> tensor<16xi8>
  %r1 = memgraph.opaque "R"(%r0, %t) : (tensor<16xi8>, tensor<64xi8>) -> tensor<16xi8>
  %r2 = memgraph.opaque "R"(%r1, %t) : (tensor<16xi8>, tensor<64xi8>) -> tensor<16xi8>
  func.return %r2 : tensor<16xi8>
}
// -----
// Views lie in the bank of what they show, in-place results in that of their operand; scratch has a slot
// of its own; constants and the caller's buffers have none.
// CHECK-LABEL: @kinds
// CHECK-SAME: %x: tensor<32xi8> {memgraph.offset = #memgraph.unplaced<caller>}
// CHECK: memgraph.constant {{.*}}memgraph.offset = [#memgraph.unplaced<constant>]
// CHECK: "A"{{.*}}memgraph.scratch = [#memgraph.scratch<17, #memgraph.slot<fast, {{[0-9]+}}>>]{{.*}}memgraph.offset = [#memgraph.slot<[[BANK:[a-z]+]], [[AT:[0-9]+]]>]
// CHECK: memgraph.reshape {{.*}}memgraph.offset = [#memgraph.slot<[[BANK]], [[AT]]>]
// CHECK: memgraph.relu {{.*}}memgraph.offset = [#memgraph.slot<[[BANK]], [[AT]]>]
func.func @kinds(%x: tensor<32xi8>) -> tensor<4xi8> attributes {memgraph.model = #memgraph.model<io = caller>} {
  %w = memgraph.constant dense<1> : tensor<4xi8>
  %a = memgraph.opaque "A"(%x, %w) {memgraph.scratch = [#memgraph.scratch<17>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<32xi8>
  %v = memgraph.reshape %a : (tensor<32xi8>) -> tensor<4x8xi8>
  %r = memgraph.relu %v {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<4x8xi8>) -> tensor<4x8xi8>
  %b = memgraph.opaque "B"(%r) : (tensor<4x8xi8>) -> tensor<4xi8>
  func.return %b : tensor<4xi8>
}
