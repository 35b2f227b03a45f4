// The smallest arena over all orders, and all that can be in place, where the order in hand does not
// fit into its peak.
// RUN: memopt-opt --split-input-file --model=alignment=1 --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=AUTO
// RUN: memopt-opt --split-input-file --model=alignment=1 --schedule=auto --place=joint --verify-plan %s | filecheck %s --check-prefix=JOINT
// RUN: memopt-opt --split-input-file --model=alignment=1 --schedule=auto --place=joint %s | memopt-opt --split-input-file --place=joint --verify-plan | filecheck %s --check-prefix=JOINT
// RUN: not memopt-opt --split-input-file --partition=2 --schedule=auto --place=joint %s 2>&1 | filecheck %s --check-prefix=PARTITION
// PARTITION: error: memgraph-place: @another_order: method=joint may change the order, which the partition fixes

// Another order of the same peak fits into it.
// AUTO-LABEL: @another_order
// AUTO-SAME: peak = 24, lower_bound = 24, proof = search, family = order, arena = 25, arena_lower_bound = 24
// JOINT-LABEL: @another_order
// JOINT-SAME: peak = 24, lower_bound = 24, proof = search, family = order, arena = 24, arena_lower_bound = 24
func.func @another_order(%x: tensor<2xi8>) -> (tensor<1xi8>, tensor<5xi8>, tensor<4xi8>, tensor<4xi8>, tensor<6xi8>) {
  %t0 = memgraph.opaque "o0"(%x) : (tensor<2xi8>) -> tensor<4xi8>
  %t1 = memgraph.opaque "o1"(%t0) : (tensor<4xi8>) -> tensor<5xi8>
  %t2 = memgraph.opaque "o2"(%t0) : (tensor<4xi8>) -> tensor<5xi8>
  %t3 = memgraph.opaque "o3"(%x) : (tensor<2xi8>) -> tensor<1xi8>
  %t4 = memgraph.opaque "o4"(%t2) : (tensor<5xi8>) -> tensor<6xi8>
  %t5 = memgraph.opaque "o5"(%x) : (tensor<2xi8>) -> tensor<1xi8>
  %t6 = memgraph.opaque "o6"(%t0, %t1) : (tensor<4xi8>, tensor<5xi8>) -> tensor<5xi8>
  %t7 = memgraph.opaque "o7"(%t3) : (tensor<1xi8>) -> tensor<2xi8>
  %t8 = memgraph.opaque "o8"(%t0, %t4) : (tensor<4xi8>, tensor<6xi8>) -> tensor<3xi8>
  %t9 = memgraph.opaque "o9"(%t8) : (tensor<3xi8>) -> tensor<4xi8>
  %t10 = memgraph.opaque "o10"(%t0, %t7) : (tensor<4xi8>, tensor<2xi8>) -> tensor<4xi8>
  %t11 = memgraph.opaque "o11"(%t2) : (tensor<5xi8>) -> tensor<6xi8>
  func.return %t5, %t6, %t9, %t10, %t11 : tensor<1xi8>, tensor<5xi8>, tensor<4xi8>, tensor<4xi8>, tensor<6xi8>
}
// -----
// No order fits into 14 bytes, and that is proven.
// AUTO-LABEL: @none_fits
// AUTO-SAME: peak = 14, lower_bound = 14, proof = flow, family = order, arena = 15, arena_lower_bound = 14
// JOINT-LABEL: @none_fits
// JOINT-NOT: schedules_tried
// JOINT-SAME: peak = 14, lower_bound = 14, proof = flow, family = order, arena = 15, arena_lower_bound = 15
func.func @none_fits(%x: tensor<6xi8>) -> (tensor<3xi8>, tensor<3xi8>, tensor<6xi8>, tensor<1xi8>) {
  %t0 = memgraph.opaque "o0"(%x) : (tensor<6xi8>) -> tensor<4xi8>
  %t1 = memgraph.opaque "o1"(%x) : (tensor<6xi8>) -> tensor<2xi8>
  %t2 = memgraph.opaque "o2"(%t1) : (tensor<2xi8>) -> tensor<2xi8>
  %t3 = memgraph.opaque "o3"(%t0) : (tensor<4xi8>) -> tensor<1xi8>
  %t4 = memgraph.opaque "o4"(%x) : (tensor<6xi8>) -> tensor<1xi8>
  %t5 = memgraph.opaque "o5"(%t2, %t4) : (tensor<2xi8>, tensor<1xi8>) -> tensor<3xi8>
  %t6 = memgraph.opaque "o6"(%t1) : (tensor<2xi8>) -> tensor<3xi8>
  %t7 = memgraph.opaque "o7"(%t3) : (tensor<1xi8>) -> tensor<3xi8>
  %t8 = memgraph.opaque "o8"(%t0, %t3) : (tensor<4xi8>, tensor<1xi8>) -> tensor<6xi8>
  %t9 = memgraph.opaque "o9"(%t6) : (tensor<3xi8>) -> tensor<1xi8>
  func.return %t5, %t7, %t8, %t9 : tensor<3xi8>, tensor<3xi8>, tensor<6xi8>, tensor<1xi8>
}
// -----
// %q, in place of the real %a, would keep 4 bytes in a row from %r: it has a byte of its own, where
// %p left it, and the plan says that it was declined. The peak is the same.
// AUTO-LABEL: @beside_what_dies
// AUTO-SAME: peak = 8, lower_bound = 8, proof = flow, family = order, arena = 9, arena_lower_bound = 8
// AUTO: %q = memgraph.quantize %a {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>]], memgraph.chosen_inplace
// JOINT-LABEL: @beside_what_dies
// JOINT-SAME: peak = 8, lower_bound = 8, proof = flow, family = order, arena = 8, arena_lower_bound = 8
// JOINT: %p = memgraph.quantize %x {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>]], memgraph.chosen_inplace
// JOINT: %q = memgraph.quantize %a {memgraph.chosen_inplace, memgraph.order = 2 : i64
!q = tensor<1xi8, #memgraph.encoding<scale = [1.0], zero_point = [0]>>
func.func @beside_what_dies(%x: tensor<1xf32>) -> (!q, tensor<4xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1, inplace = on>} {
  %a = memgraph.opaque "o0"(%x) : (tensor<1xf32>) -> tensor<1xf32>
  %p = memgraph.quantize %x : (tensor<1xf32>) -> !q
  %q = memgraph.quantize %a : (tensor<1xf32>) -> !q
  %r = memgraph.opaque "o1"(%q) : (!q) -> tensor<4xi8>
  func.return %p, %r : !q, tensor<4xi8>
}
// -----
// The second operand dies too, and over that one the result is in nobody's way.
// AUTO-LABEL: @over_the_second
// AUTO-SAME: peak = 18, lower_bound = 18, proof = flow, family = order, arena = 19, arena_lower_bound = 18
// JOINT-LABEL: @over_the_second
// JOINT-SAME: peak = 18, lower_bound = 18, proof = flow, family = order, arena = 18, arena_lower_bound = 18
// JOINT: memgraph.less {{.*}} {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 1, kind = inplace>]], memgraph.chosen_inplace
!p = tensor<3xi8, #memgraph.encoding<scale = [1.0], zero_point = [0]>>
func.func @over_the_second(%x: tensor<3xf32>) -> (!p, tensor<12xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1, inplace = on>} {
  %0 = memgraph.opaque "o0"(%x) : (tensor<3xf32>) -> tensor<1xf32>
  %1 = memgraph.opaque "o1"(%0, %x) : (tensor<1xf32>, tensor<3xf32>) -> tensor<2xi8>
  %2 = memgraph.quantize %x : (tensor<3xf32>) -> !p
  %3 = memgraph.opaque "o3"(%1) : (tensor<2xi8>) -> tensor<5xi8>
  %4 = memgraph.opaque "o4"(%3) : (tensor<5xi8>) -> tensor<1xf32>
  %5 = memgraph.less %0, %4 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
  %6 = memgraph.opaque "o6"(%5) : (tensor<1xi1>) -> tensor<12xi8>
  func.return %2, %6 : !p, tensor<12xi8>
}
