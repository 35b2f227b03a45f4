// One seeded bug for every rule of the plan verifier on shared objects. The plan is that of
// --schedule=source --place=shared-objects-by-size.
// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-verify-plan{placed=true}" %s

// Nothing wrong.
func.func @right(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object3: y and d are live together}}
func.func @live_together(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object0: x and a are live together}}
func.func @input_and_result(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object0, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object1 needs 48 B, the plan says 32 B}}
func.func @too_small(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 32>, #memgraph.memory<object2, kind = object, bytes = 48>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object3 needs 32 B, the plan says 48 B}}
func.func @too_large(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 192, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 48>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object4 needs 0 B, the plan says 16 B}}
func.func @empty_object(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 192, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>, #memgraph.memory<object4, kind = object, bytes = 16>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{c is in object4, which is none of the plan's memories}}
func.func @no_such_object(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object4, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{c has an offset in an arena, but the plan has 4 memories}}
func.func @offset_among_objects(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{c is in sram, which is none of the plan's memories}}
func.func @slot_among_objects(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<sram, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{x is in object2, but the plan has one arena}}
func.func @object_without_objects(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object3: c is at 16, and 0 B into its buffer}}
func.func @not_at_the_start(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 16>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{c: offset 8 is not aligned}}
func.func @not_aligned(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 8>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{v is a view of a but lies elsewhere}}
func.func @view_elsewhere(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object0: s is at 0, and 16 B into its buffer}}
func.func @slice_at_the_start(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{r is in place of b but lies elsewhere}}
func.func @in_place_elsewhere(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object0: a and scratch are live together}}
func.func @scratch_with_a_buffer(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object0, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{scratch at [16, 32) overwrites scratch at [0, 32)}}
func.func @scratch_over_scratch(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 16>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{scratch has an offset in an arena, but the plan has 4 memories}}
func.func @scratch_in_an_arena(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, 0>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{scratch is in object7, which is none of the plan's memories}}
func.func @scratch_in_no_object(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object7, 0>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{memgraph.offset is missing}}
func.func @no_place(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{the peak is 176 B, the plan says 160 B}}
func.func @peak(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 160, lower_bound = 160, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@+1 {{plan: arena must be the sum of the memories' bytes}}
func.func @arena_is_no_sum(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 192, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@+1 {{plan: memories_lower_bound must be between 0 and arena}}
func.func @bound_above_the_sum(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 177, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@+1 {{slot: negative offset}}
func.func @negative_object(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, -16>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{stale plan: the function has changed since it was planned}}
func.func @stale(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "other"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{the plan has several memories, but TFLM has one arena}}
func.func @tflm(%x: tensor<32xi8> {memgraph.offset = #memgraph.slot<object2, 0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.slot<object3, 0>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<target = tflm>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, memories = [#memgraph.memory<object0, kind = object, bytes = 64>, #memgraph.memory<object1, kind = object, bytes = 48>, #memgraph.memory<object2, kind = object, bytes = 32>, #memgraph.memory<object3, kind = object, bytes = 32>], memories_lower_bound = 176, fingerprint = "5d12cc526b54afd0745ecac635dcbc9d">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.slot<object1, 0>>, #memgraph.scratch<8, #memgraph.slot<object1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object3, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// Between the writes of two halves of a concat the buffer is live: no byte is lost here, but an
// object has one buffer at a time.
// expected-error@unknown {{object0: q and h are live together}}
func.func @gap(%x: tensor<16xi8> {memgraph.offset = #memgraph.slot<object1, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 64, lower_bound = 48, proof = flow, family = order, arena = 64, arena_lower_bound = 48, memories = [#memgraph.memory<object0, kind = object, bytes = 32>, #memgraph.memory<object1, kind = object, bytes = 16>, #memgraph.memory<object2, kind = object, bytes = 16>], memories_lower_bound = 64, fingerprint = "12f4b0588b6f62f5c30efd246c8daf17">} {
  %q = memgraph.opaque "Q"(%x) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<object0, 16>]} : (tensor<16xi8>) -> tensor<16xi8>
  %h = memgraph.opaque "H"(%x) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<16xi8>) -> tensor<16xi8>
  %g = memgraph.opaque "G"(%h) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<object1, 0>]} : (tensor<16xi8>) -> tensor<16xi8>
  %p = memgraph.opaque "P"(%g) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<16xi8>) -> tensor<16xi8>
  %c = memgraph.concat %p, %q axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -16>]], memgraph.offset = [#memgraph.slot<object0, 0>]} : (tensor<16xi8>, tensor<16xi8>) -> tensor<32xi8>
  %y = memgraph.opaque "Y"(%c) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<object2, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %y : tensor<16xi8>
}
