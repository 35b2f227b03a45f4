// Every strategy gives offsets that the verifier accepts.
// RUN: memopt-opt --split-input-file --place=auto --verify-plan %s | filecheck %s --check-prefixes=CHECK,AUTO
// RUN: memopt-opt --split-input-file --schedule=source --place=exact --verify-plan %s | filecheck %s --check-prefixes=CHECK,AUTO
// RUN: memopt-opt --split-input-file --schedule=source --place=cp-sat --verify-plan %s | filecheck %s --check-prefixes=CHECK,AUTO
// RUN: memopt-opt --split-input-file --place=greedy-by-size --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --place=greedy-by-breadth --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --place=best-fit --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --place=tflm --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --schedule=source --place=hill-climb --verify-plan %s | filecheck %s --check-prefixes=CHECK,AUTO
// RUN: memopt-opt --split-input-file -p "memgraph-place{method=auto},memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefixes=CHECK,AUTO
// RUN: not memopt-opt --place=luck %s 2>&1 | filecheck %s --check-prefix=METHOD
// METHOD: memopt-opt: error: memgraph-place: {{.*}}luck

// Without a schedule the order is kept. The constant has no place in the arena, the dead result has.
// CHECK-LABEL: @plain
// CHECK-SAME: %x: tensor<32xi8> {memgraph.offset = {{[0-9]+}} : i64}
// AUTO-SAME: peak = 112, lower_bound = {{[0-9]+}}, proof = {{[a-z]+}}, family = order, arena = 112, arena_lower_bound = {{[0-9]+}}
// CHECK-NEXT: memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
// CHECK-NEXT: "A"(%x, %{{.*}}) {memgraph.order = 0 : i64, memgraph.offset = [{{[0-9]+}} : i64, {{[0-9]+}} : i64]}
// CHECK-NEXT: "B"(%{{.*}}) {memgraph.order = 1 : i64, memgraph.offset = [{{[0-9]+}} : i64]}
func.func @plain(%x: tensor<32xi8>) -> tensor<16xi8> {
  %w = memgraph.constant dense<1> : tensor<4xi8>
  %a, %dead = memgraph.opaque "A"(%x, %w) : (tensor<32xi8>, tensor<4xi8>) -> (tensor<64xi8>, tensor<16xi8>)
  %b = memgraph.opaque "B"(%a) : (tensor<64xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// The caller's memory is not in the arena.
// CHECK-LABEL: @caller
// CHECK-SAME: %x: tensor<32xi8> {memgraph.offset = #memgraph.unplaced<caller>}
// CHECK-SAME: peak = 64
// CHECK-SAME: arena = 64
// CHECK: "A"{{.*}}memgraph.offset = [0 : i64]
// CHECK: "B"{{.*}}memgraph.offset = [#memgraph.unplaced<caller>]
func.func @caller(%x: tensor<32xi8>) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<io = caller>} {
  %a = memgraph.opaque "A"(%x) : (tensor<32xi8>) -> tensor<64xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<64xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// Two buffers of the caller cannot be one: the view between them copies.
// CHECK-LABEL: @caller_view
// CHECK: memgraph.reshape %x {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.unplaced<caller>]}
func.func @caller_view(%x: tensor<32xi8>) -> tensor<4x8xi8> attributes {memgraph.model = #memgraph.model<io = caller>} {
  %v = memgraph.reshape %x : (tensor<32xi8>) -> tensor<4x8xi8>
  func.return %v : tensor<4x8xi8>
}
// -----
// A part of the caller's buffer that is larger than what the caller asked for is copied out.
// CHECK-LABEL: @caller_slice
// CHECK: "A"(%x) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]}
// CHECK: memgraph.slice %{{.*}}memgraph.order = 1 : i64, memgraph.offset = [#memgraph.unplaced<caller>]
func.func @caller_slice(%x: tensor<8xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<io = caller>} {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<48xi8>
  %s = memgraph.slice %a starts [8] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 8>]]} : (tensor<48xi8>) -> tensor<8xi8>
  func.return %s : tensor<8xi8>
}
// -----
// The parts of a concat that the caller gets are written there.
// CHECK-LABEL: @caller_concat
// CHECK: "A"{{.*}}memgraph.offset = [#memgraph.unplaced<caller>]
// CHECK: "B"{{.*}}memgraph.offset = [#memgraph.unplaced<caller>]
// CHECK-NOT: memgraph.order
// CHECK: memgraph.concat {{.*}}memgraph.offset = [#memgraph.unplaced<caller>]
func.func @caller_concat(%x: tensor<8xi8>) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<io = caller>} {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<8xi8>
  %b = memgraph.opaque "B"(%x) : (tensor<8xi8>) -> tensor<8xi8>
  %c = memgraph.concat %a, %b axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -8>]]} : (tensor<8xi8>, tensor<8xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// Kept inputs stay to the end: 32 + 64 + 16.
// CHECK-LABEL: @kept
// AUTO-SAME: peak = 112
// AUTO-SAME: arena = 112
func.func @kept(%x: tensor<32xi8>) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<io = kept>} {
  %a = memgraph.opaque "A"(%x) : (tensor<32xi8>) -> tensor<64xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<64xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// A view lies where its operand lies.
// CHECK-LABEL: @view
// CHECK: "A"{{.*}}memgraph.offset = {{\[}}[[A:[0-9]+]] : i64]
// CHECK: memgraph.reshape %{{.*}} {memgraph.offset = {{\[}}[[A]] : i64]}
func.func @view(%x: tensor<32xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<32xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) : (tensor<8x8xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// A concat without a copy: its parts are written where they will be read. A slice is a part of one.
// CHECK-LABEL: @concat
// AUTO-SAME: peak = 96
// CHECK: "A"{{.*}}memgraph.offset = [0 : i64]
// CHECK: "B"{{.*}}memgraph.offset = [32 : i64]
// CHECK: memgraph.concat %{{.*}}memgraph.offset = [0 : i64]
// CHECK: "D"{{.*}}memgraph.offset = [48 : i64]
// CHECK: memgraph.slice %{{.*}}memgraph.offset = [56 : i64]
// CHECK: "E"{{.*}}memgraph.order = 3 : i64
func.func @concat(%x: tensor<32xi8>) -> tensor<48xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %a = memgraph.opaque "A"(%x) : (tensor<32xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%x) : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.concat %a, %b axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -32>]]} : (tensor<32xi8>, tensor<16xi8>) -> tensor<48xi8>
  %d = memgraph.opaque "D"(%c) : (tensor<48xi8>) -> tensor<48xi8>
  %s = memgraph.slice %d starts [8] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 8>]]} : (tensor<48xi8>) -> tensor<8xi8>
  %e = memgraph.opaque "E"(%s) : (tensor<8xi8>) -> tensor<48xi8>
  func.return %e : tensor<48xi8>
}
// -----
// In place: the same offset. Scratch gets an offset of its own.
// CHECK-LABEL: @inplace
// AUTO-SAME: peak = 80
// CHECK: "A"(%x) {memgraph.scratch = [#memgraph.scratch<17, {{[0-9]+}}>, #memgraph.scratch<1, {{[0-9]+}}>], memgraph.order = 0 : i64, memgraph.offset = {{\[}}[[A:[0-9]+]] : i64]}
// CHECK: memgraph.add %{{.*}}memgraph.offset = {{\[}}[[A]] : i64]
func.func @inplace(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<17>, #memgraph.scratch<1>]} : (tensor<16xi8>) -> tensor<16xi8>
  %b = memgraph.add %a, %x {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<16xi8>, tensor<16xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// Buffers without bytes conflict with nothing; variables and resources are not in the arena.
// CHECK-LABEL: @nothing
// CHECK-SAME: %n: tensor<!memgraph.runtime<"resource">> {memgraph.offset = #memgraph.unplaced<runtime>}
// CHECK-SAME: peak = 16
// CHECK: memgraph.variable "s" {memgraph.offset = [#memgraph.unplaced<{{runtime|constant}}>]}
// CHECK: "token"{{.*}}memgraph.offset = [{{[0-9]+}} : i64]
func.func @nothing(%x: tensor<16xi8>, %n: tensor<!memgraph.runtime<"resource">>) {
  %s = memgraph.variable "s" : tensor<4xi8>
  %t = memgraph.opaque "token"(%x, %s, %n) : (tensor<16xi8>, tensor<4xi8>, tensor<!memgraph.runtime<"resource">>) -> tensor<0xi8>
  func.return
}
// -----
// Boundaries: bits are rounded up to bytes, bytes to the alignment.
// CHECK-LABEL: @bits
// CHECK-SAME: peak = 12
func.func @bits(%x: tensor<3xi4>) -> tensor<5xi1> attributes {memgraph.model = #memgraph.model<alignment = 4>} {
  %a = memgraph.opaque "A"(%x) : (tensor<3xi4>) -> tensor<5xi1>
  func.return %a : tensor<5xi1>
}
