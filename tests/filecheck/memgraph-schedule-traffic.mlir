// An order for little traffic off the chip, with a bound of all orders; it is in the IR, and is read again.
// RUN: memopt-opt --split-input-file -p "memgraph-schedule{objective=traffic on-chip=96},memgraph-verify-plan" %s | memopt-opt --split-input-file --verify-plan | filecheck %s
// RUN: memopt-opt --split-input-file -p "memgraph-schedule{method=source objective=traffic on-chip=96 time-limit=60},memgraph-place,memgraph-verify-plan" %s | filecheck %s --check-prefix=PLACED
// RUN: memopt-opt --split-input-file -p "memgraph-schedule{objective=traffic on-chip=64K},memgraph-verify-plan" %s | filecheck %s --check-prefix=ROOM
// RUN: memopt-opt --split-input-file -p "memgraph-schedule{objective=traffic on-chip=96}" --stats=json %s 2>&1 >/dev/null | filecheck %s --check-prefix=STATS
// STATS: "function": "branches", {{.*}}"off_chip": 64, "off_chip_lower_bound": 48}
// Places change nothing of it; another order does.
// PLACED: arena = {{.*}}memgraph.off_chip = #memgraph.off_chip<on_chip = 96, {{.*}}objective = traffic
// RUN: memopt-opt --split-input-file -p "memgraph-schedule{objective=traffic on-chip=96},memgraph-schedule" %s | filecheck %s --check-prefix=AGAIN
// AGAIN-LABEL: @branches
// AGAIN-NOT: off_chip
// Where everything fits nothing is moved, and nothing is to be proven.
// ROOM-COUNT-3: #memgraph.off_chip<on_chip = 65536, rule = belady, moved = 0, lower_bound = 0, proof = search, objective = traffic>
// Wrong command lines.
// RUN: not memopt-opt -p "memgraph-schedule{objective=traffic}" %s 2>&1 | filecheck %s --check-prefix=PAIR
// PAIR: memopt-opt: error: memgraph-schedule: on-chip=BYTES and objective=traffic go together
// RUN: not memopt-opt -p "memgraph-schedule{objective=trafic on-chip=64K}" %s 2>&1 | filecheck %s --check-prefix=WORD
// WORD: memopt-opt: error: memgraph-schedule: objective=trafic (did you mean traffic?): one of peak, traffic
// RUN: not memopt-opt -p "memgraph-schedule{objective=traffic on-chip=many}" %s 2>&1 | filecheck %s --check-prefix=SIZE
// SIZE: memopt-opt: error: memgraph-schedule: 'many' is no size; write 65536, 64K or 1M
// RUN: not memopt-opt -p 'memgraph-schedule{objective=traffic on-chip=1K certificate="a.cert"}' %s 2>&1 | filecheck %s --check-prefix=CERT
// CERT: memopt-opt: error: memgraph-schedule: certificate: there are none of objective=traffic

// Source order moves 128 B at the least, 240 B by Belady's rule: %a, %b and %x do not fit together.
// Branch by branch it is 64 B: %c and %d are written and read again.
// CHECK-LABEL: @branches
// CHECK-SAME: memgraph.off_chip = #memgraph.off_chip<on_chip = 96, rule = packing, moved = 64, lower_bound = 48, proof = none, objective = traffic, orders_lower_bound = 48, outside = [{{[0-9, ]+}}]>
// CHECK: memgraph.order = 4
func.func @branches(%x: tensor<48xi8>) -> tensor<8xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<48xi8>) -> tensor<48xi8>
  %b = memgraph.opaque "B"(%x) : (tensor<48xi8>) -> tensor<48xi8>
  %c = memgraph.opaque "C"(%a) : (tensor<48xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "D"(%b) : (tensor<48xi8>) -> tensor<16xi8>
  %e = memgraph.opaque "E"(%c, %d, %x) : (tensor<16xi8>, tensor<16xi8>, tensor<48xi8>) -> tensor<8xi8>
  func.return %e : tensor<8xi8>
}
// -----
// A chain has one order, whose bound is met: it is proven that every order moves as much.
// CHECK-LABEL: @chain
// CHECK-SAME: moved = 64, lower_bound = 64, proof = ilp, objective = traffic, orders_lower_bound = 64, outside = [0]>
func.func @chain(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<64xi8>) -> tensor<64xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<64xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// Nothing is in place: what is moved is counted of results with bytes of their own.
// CHECK-LABEL: @inplace
// CHECK-SAME: peak = 128,{{.*}} moved = 64, lower_bound = 64, proof = ilp
// CHECK: memgraph.relu %{{.*}} {memgraph.chosen_inplace, memgraph.order = 0 : i64}
func.func @inplace(%x: tensor<64xi8>) -> tensor<64xi8> attributes {memgraph.model = #memgraph.model<inplace = on>} {
  %r = memgraph.relu %x : (tensor<64xi8>) -> tensor<64xi8>
  func.return %r : tensor<64xi8>
}
