// Shared objects: memories that hold one buffer at a time; the plan lists their bytes, and what bounds the sum.
// RUN: memopt-opt --split-input-file --place=shared-objects --verify-plan %s | filecheck %s --check-prefixes=CHECK,BEST
// RUN: memopt-opt --split-input-file --place=shared-objects-exact --verify-plan %s | filecheck %s --check-prefixes=CHECK,BEST
// RUN: memopt-opt --split-input-file --place=shared-objects-by-size --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --place=shared-objects-improved --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --place=shared-objects-by-breadth --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --place=shared-objects-greedy --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --place=shared-objects-min-cost-flow --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file -p "memgraph-place{method=shared-objects time-limit=5},memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefixes=CHECK,BEST
// RUN: memopt-opt --split-input-file -p "memgraph-place{method=shared-objects-by-size ties=latest},memgraph-verify-plan" %s | filecheck %s
// RUN: memopt-opt --split-input-file -p "memgraph-place{method=shared-objects-by-breadth ties=shortest},memgraph-verify-plan" %s | filecheck %s
// RUN: not memopt-opt -p "memgraph-place{method=shared-objects-by-size ties=first}" %s 2>&1 | filecheck %s --check-prefix=TIES
// TIES: error: memgraph-place: @plain: ties=first: one of best, longest, earliest, latest, shortest
// RUN: not memopt-opt -p "memgraph-place{method=shared-objects-improved ties=latest}" %s 2>&1 | filecheck %s --check-prefix=NO-TIES
// NO-TIES: error: memgraph-place: @plain: shared-objects-improved has no option 'ties'
// What is printed is read again, and verifies.
// RUN: memopt-opt --split-input-file --place=shared-objects %s | memopt-opt --split-input-file --verify-plan | filecheck %s --check-prefixes=CHECK,BEST
// Another placement takes the objects away again.
// RUN: memopt-opt --split-input-file --place=shared-objects --place=auto --verify-plan %s | filecheck %s --check-prefix=AGAIN
// AGAIN-NOT: memgraph.slot
// AGAIN-NOT: memories =
// RUN: not memopt-opt --place=shared-objects-by-luck %s 2>&1 | filecheck %s --check-prefix=METHOD
// METHOD: memopt-opt: error: memgraph-place: {{.*}}shared-objects-by-luck
// RUN: not memopt-opt --split-input-file --model=target=tflm --place=shared-objects %s -o %t.mlir 2>&1 | filecheck %s --check-prefix=TFLM
// RUN: not cat %t.mlir
// TFLM: @plain: error: --place=shared-objects: TensorFlow Lite Micro has one arena and takes no shared objects

// Objects go by falling size. The dead result has one too, while its operator runs.
// CHECK-LABEL: @plain
// CHECK-SAME: %x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object1, 0>}
// CHECK-SAME: arena = 112, arena_lower_bound = {{[0-9]+}}, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 32>, #memgraph.memory<object2, kind = object, bytes = 16>], memories_lower_bound = 112
// CHECK-NEXT: memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
// CHECK-NEXT: "A"(%x, %{{.*}}) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>, #memgraph.slot<object2, 0>]}
// CHECK-NEXT: "B"(%{{.*}}) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object{{[12]}}, 0>]}
func.func @plain(%x: tensor<32xi8>) -> tensor<16xi8> {
  %w = memgraph.constant dense<1> : tensor<4xi8>
  %a, %dead = memgraph.opaque "A"(%x, %w) : (tensor<32xi8>, tensor<4xi8>) -> (tensor<64xi8>, tensor<16xi8>)
  %b = memgraph.opaque "B"(%a) : (tensor<64xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// The caller's memory is in no object.
// CHECK-LABEL: @caller
// CHECK-SAME: %x: tensor<32xi8> {memgraph.offset = #memgraph.unplaced<caller>}
// CHECK-SAME: memories = [#memgraph.memory<object0, kind = object, bytes = 64>]
// CHECK: "A"{{.*}}memgraph.offset = [#memgraph.slot<object0, 0>]
// CHECK: "B"{{.*}}memgraph.offset = [#memgraph.unplaced<caller>]
func.func @caller(%x: tensor<32xi8>) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<io = caller>} {
  %a = memgraph.opaque "A"(%x) : (tensor<32xi8>) -> tensor<64xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<64xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// A view lies where its operand lies, a slice inside, the parts of a concat in the whole.
// CHECK-LABEL: @views
// CHECK: "A"{{.*}}memgraph.offset = [#memgraph.slot<object[[K:[0-9]+]], 0>]
// CHECK: memgraph.reshape %{{.*}} {memgraph.offset = [#memgraph.slot<object[[K]], 0>]}
// CHECK: memgraph.slice %{{.*}}memgraph.offset = [#memgraph.slot<object[[K]], 16>]
// CHECK: "P"{{.*}}memgraph.offset = [#memgraph.slot<object[[C:[0-9]+]], 0>]
// CHECK: "Q"{{.*}}memgraph.offset = [#memgraph.slot<object[[C]], 16>]
// CHECK: memgraph.concat %{{.*}}memgraph.offset = [#memgraph.slot<object[[C]], 0>]
func.func @views(%x: tensor<32xi8>) -> tensor<32xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<32xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]]} : (tensor<64xi8>) -> tensor<16xi8>
  %p = memgraph.opaque "P"(%v, %s) : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<16xi8>
  %q = memgraph.opaque "Q"(%v) : (tensor<8x8xi8>) -> tensor<16xi8>
  %c = memgraph.concat %p, %q axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -16>]]} : (tensor<16xi8>, tensor<16xi8>) -> tensor<32xi8>
  func.return %c : tensor<32xi8>
}
// -----
// In place: the same object. The scratch of an operator is in one object, side by side.
// CHECK-LABEL: @inplace
// CHECK-SAME: memories = [#memgraph.memory<object0, kind = object, bytes = 48>, #memgraph.memory<object1, kind = object, bytes = 16>, #memgraph.memory<object2, kind = object, bytes = 16>]
// CHECK: "A"(%x) {memgraph.scratch = [#memgraph.scratch<17, #memgraph.slot<object0, 0>>, #memgraph.scratch<1, #memgraph.slot<object0, 32>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object[[A:[0-9]+]], 0>]}
// CHECK: memgraph.add %{{.*}}memgraph.offset = [#memgraph.slot<object[[A]], 0>]
func.func @inplace(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<17>, #memgraph.scratch<1>]} : (tensor<16xi8>) -> tensor<16xi8>
  %b = memgraph.add %a, %x {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<16xi8>, tensor<16xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// Buffers without bytes are in the first object.
// CHECK-LABEL: @empty
// CHECK-SAME: memories = [#memgraph.memory<object0, kind = object, bytes = 16>], memories_lower_bound = 16
// CHECK: "token"{{.*}}memgraph.offset = [#memgraph.slot<object0, 0>]
func.func @empty(%x: tensor<16xi8>) {
  %t = memgraph.opaque "token"(%x) : (tensor<16xi8>) -> tensor<0xi8>
  func.return
}
// -----
// Without bytes at all there is no object: an arena of 0 bytes is the same.
// CHECK-LABEL: @nothing
// CHECK-SAME: arena = 0, arena_lower_bound = 0, fingerprint
// CHECK: "token"{{.*}}memgraph.offset = [0 : i64]
func.func @nothing() {
  %t = memgraph.opaque "token"() : () -> tensor<0xi8>
  func.return
}
// -----
// An object is as large as the largest buffer that is ever in it: one arena would need 96 B.
// CHECK-LABEL: @more_than_an_arena
// CHECK-SAME: peak = 96
// BEST-SAME: arena = 112, arena_lower_bound = 96, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>], memories_lower_bound = 112
func.func @more_than_an_arena(%x: tensor<16xi8>) -> tensor<48xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<16xi8>) -> tensor<64xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<64xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%b) : (tensor<16xi8>) -> tensor<48xi8>
  %d = memgraph.opaque "D"(%c) : (tensor<48xi8>) -> tensor<48xi8>
  func.return %d : tensor<48xi8>
}
