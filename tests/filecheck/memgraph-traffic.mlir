// Traffic off the chip, by Belady's rule and at its least.
// RUN: memopt-opt --split-input-file -p "memgraph-traffic{on-chip=96}" %s | filecheck %s --check-prefixes=CHECK,RULE
// RUN: memopt-opt --split-input-file -p "memgraph-traffic{on-chip=96 rule=exact}" %s | filecheck %s --check-prefixes=CHECK,EXACT
// RUN: memopt-opt --split-input-file -p "memgraph-traffic{on-chip=96 rule=packing}" %s | filecheck %s --check-prefixes=CHECK,PACK
// RUN: memopt-opt --split-input-file -p "memgraph-schedule{method=source},memgraph-traffic{on-chip=64K time-limit=5.0},memgraph-verify-plan" %s | filecheck %s --check-prefix=ROOM
// RUN: memopt-opt -p "memgraph-schedule{method=source},memgraph-traffic{on-chip=96}" --stats=json %s --split-input-file 2>&1 >/dev/null | filecheck %s --check-prefix=STATS
// STATS: "pass": "memgraph-traffic", {{.*}}"off_chip": 160
// RUN: not memopt-opt -p "memgraph-traffic{on-chip=many}" %s 2>&1 | filecheck %s --check-prefix=SIZE
// SIZE: memopt-opt: error: memgraph-traffic: 'many' is no size; write 65536, 64K or 1M
// RUN: not memopt-opt -p "memgraph-traffic{on-chip=1 rule=luck}" %s 2>&1 | filecheck %s --check-prefix=WORD
// WORD: memopt-opt: error: memgraph-traffic: {{.*}}luck
// Where everything fits nothing is moved.
// ROOM-COUNT-3: #memgraph.off_chip<on_chip = 65536, rule = belady, moved = 0, lower_bound = 0, proof = none>

// %x and %a do not fit together. Belady gives up the result %a, 48 B out and 48 B in, and at B %x,
// which is used again last, 64 B in at D. It is less to leave %x outside all the time: 64 B twice.
// CHECK-LABEL: @far
// RULE-SAME: memgraph.off_chip = #memgraph.off_chip<on_chip = 96, rule = belady, moved = 160, lower_bound = 0, proof = none>
// EXACT-SAME: memgraph.off_chip = #memgraph.off_chip<on_chip = 96, rule = exact, moved = 128, lower_bound = 128, proof = ilp, outside = [0, 1]>
// PACK-SAME: memgraph.off_chip = #memgraph.off_chip<on_chip = 96, rule = packing, moved = 128, lower_bound = 0, proof = none, outside = [0, 1]>
func.func @far(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<64xi8>) -> tensor<48xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<48xi8>) -> tensor<48xi8>
  %c = memgraph.opaque "C"(%b) : (tensor<48xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "D"(%c, %x) : (tensor<16xi8>, tensor<64xi8>) -> tensor<16xi8>
  func.return %d : tensor<16xi8>
}
// -----
// A view is what it shows, a concat without a copy its parts: one of the two is out once, and in at E.
// CHECK-LABEL: @views
// CHECK-SAME: moved = 128,
func.func @views(%x: tensor<32xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<32xi8>) -> tensor<64xi8>
  %b = memgraph.opaque "B"(%x) : (tensor<32xi8>) -> tensor<64xi8>
  %c = memgraph.concat %a, %b axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -64>]]} : (tensor<64xi8>, tensor<64xi8>) -> tensor<128xi8>
  %v = memgraph.reshape %c : (tensor<128xi8>) -> tensor<2x64xi8>
  %e = memgraph.opaque "E"(%v) : (tensor<2x64xi8>) -> tensor<16xi8>
  func.return %e : tensor<16xi8>
}
// -----
// The caller's buffers are not counted.
// CHECK-LABEL: @caller
// CHECK-SAME: moved = 0,
func.func @caller(%x: tensor<640xi8>) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<io = caller>} {
  %a = memgraph.opaque "A"(%x) : (tensor<640xi8>) -> tensor<64xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<64xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
