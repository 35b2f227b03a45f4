// RUN: memopt-opt --model=alignment=4,io=caller --split-input-file %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=4 io=caller}" --split-input-file %s | filecheck %s
// RUN: memopt-opt --model=target=cortex-m55,scratch=cmsis-nn,views=off,inplace=on --split-input-file %s | filecheck %s --check-prefix=M55
// RUN: not memopt-opt --model=alignment=0 %s 2>&1 | filecheck %s --check-prefix=ZERO
// RUN: not memopt-opt --model=views=maybe %s 2>&1 | filecheck %s --check-prefix=MAYBE
// RUN: not memopt-opt --model=colour=red %s 2>&1 | filecheck %s --check-prefix=KEY
// RUN: not memopt-opt --model=target=avr %s 2>&1 | filecheck %s --check-prefix=AVR
// ZERO: memopt-opt: error: memgraph-model: alignment 0 is not within 1 .. 1048576
// MAYBE: memopt-opt: error: memgraph-model: views 'maybe' is not one of: on, off
// KEY: memopt-opt: error: memgraph-model has no option 'colour'; there are: target, alignment
// AVR: memopt-opt: error: memgraph-model: target 'avr' is not one of: cortex-m0plus, {{.*}}, tflm

// What is not given is the default, or stays.
// CHECK-LABEL: @fresh
// CHECK-SAME: #memgraph.model<target = generic, alignment = 4, io = caller, views = on, inplace = off, scratch = none>
// M55: #memgraph.model<target = cortex-m55, alignment = 16, io = arena, views = off, inplace = on, scratch = cmsis-nn>
func.func @fresh() {
  func.return
}
// -----
// CHECK-LABEL: @kept
// CHECK-SAME: #memgraph.model<target = host, alignment = 4, io = caller, views = off, inplace = on, scratch = none>
func.func @kept() attributes {memgraph.model = #memgraph.model<target = host, alignment = 8, views = off, inplace = on>} {
  func.return
}
// -----
// A plan for another model is dropped with its order and offsets; the bytes of scratch stay.
// CHECK-LABEL: @planned(%x: tensor<32xi8>)
// CHECK-NOT: memgraph.plan
// CHECK-NOT: memgraph.order
// CHECK-NOT: memgraph.offset
// CHECK: {memgraph.scratch = [#memgraph.scratch<8>]}
func.func @planned(%x: tensor<32xi8> {memgraph.offset = 0 : i64}) attributes {memgraph.plan = #memgraph.plan<peak = 64, lower_bound = 64, proof = flow, family = order, arena = 64, arena_lower_bound = 64, fingerprint = "">} {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<8, 48>], memgraph.order = 0 : i64, memgraph.offset = [32 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return
}
// -----
// The same model again changes nothing.
// CHECK-LABEL: @same
// CHECK-SAME: memgraph.plan
func.func @same() attributes {memgraph.model = #memgraph.model<alignment = 4, io = caller>, memgraph.plan = #memgraph.plan<peak = 0, lower_bound = 0, proof = flow, family = order, fingerprint = "">} {
  func.return
}
