// One seeded bug for every rule of the plan verifier on shared objects. The plan is that of
// --schedule=source --place=shared-objects-by-size.
// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-verify-plan{placed=true}" %s

// Nothing wrong.
func.func @right(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object 3: y and d are live together}}
func.func @live_together(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object 0: x and a are live together}}
func.func @input_and_result(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<0>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object 1 needs 48 B, the plan says 32 B}}
func.func @too_small(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 32, 48, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object 3 needs 32 B, the plan says 48 B}}
func.func @too_large(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 192, arena_lower_bound = 176, objects = [64, 48, 32, 48], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object 4 needs 0 B, the plan says 16 B}}
func.func @empty_object(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 192, arena_lower_bound = 176, objects = [64, 48, 32, 32, 16], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{c is in object 4, the plan has 4}}
func.func @no_such_object(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<4>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{c is in no shared object, but the plan has 4}}
func.func @offset_among_objects(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{c is in no shared object, but the plan has 4}}
func.func @slot_among_objects(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.slot<sram, 0>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{x is in object 2, the plan has 0}}
func.func @object_without_objects(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object 3: c is at 16, and 0 B into its buffer}}
func.func @not_at_the_start(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3, 16>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{c: offset 8 is not aligned}}
func.func @not_aligned(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3, 8>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{v is a view of a but lies elsewhere}}
func.func @view_elsewhere(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<1>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object 0: s is at 0, and 16 B into its buffer}}
func.func @slice_at_the_start(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{r is in place of b but lies elsewhere}}
func.func @in_place_elsewhere(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{object 0: a and scratch are live together}}
func.func @scratch_with_a_buffer(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<0>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{scratch at [16, 32) overwrites scratch at [0, 32)}}
func.func @scratch_over_scratch(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 16>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{scratch is in no shared object, but the plan has 4}}
func.func @scratch_in_an_arena(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, 0>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{scratch is in object 7, the plan has 4}}
func.func @scratch_in_no_object(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<7>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{memgraph.offset is missing}}
func.func @no_place(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{the peak is 176 B, the plan says 160 B}}
func.func @peak(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 160, lower_bound = 160, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@+1 {{plan: arena must be the sum of the objects' bytes}}
func.func @arena_is_no_sum(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 192, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@+1 {{plan: objects_lower_bound must be between 0 and the objects' sum}}
func.func @bound_above_the_sum(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 177, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@+1 {{object: negative index or offset}}
func.func @negative_object(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<-1>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{stale plan: the function has changed since it was planned}}
func.func @stale(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "04c73ab187857fc33faa8fe38dc06eba">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "other"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{x is in a shared object, but TFLM has one arena}}
func.func @tflm(%x: tensor<32xi8> {memgraph.offset = #memgraph.object<2>}, %y: tensor<32xi8> {memgraph.offset = #memgraph.object<3>}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<target = tflm>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, arena = 176, arena_lower_bound = 176, objects = [64, 48, 32, 32], objects_lower_bound = 176, fingerprint = "5d12cc526b54afd0745ecac635dcbc9d">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [#memgraph.object<0>]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %s = memgraph.slice %a starts [16] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]], memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<64xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%v, %s) {memgraph.scratch = [#memgraph.scratch<32, #memgraph.object<1>>, #memgraph.scratch<8, #memgraph.object<1, 32>>], memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<8x8xi8>, tensor<16xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<3>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// Between the writes of two halves of a concat the buffer is live: no byte is lost here, but an
// object has one buffer at a time.
// expected-error@unknown {{object 0: q and h are live together}}
func.func @gap(%x: tensor<16xi8> {memgraph.offset = #memgraph.object<1>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 64, lower_bound = 48, proof = flow, arena = 64, arena_lower_bound = 48, objects = [32, 16, 16], objects_lower_bound = 64, fingerprint = "12f4b0588b6f62f5c30efd246c8daf17">} {
  %q = memgraph.opaque "Q"(%x) {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.object<0, 16>]} : (tensor<16xi8>) -> tensor<16xi8>
  %h = memgraph.opaque "H"(%x) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<16xi8>) -> tensor<16xi8>
  %g = memgraph.opaque "G"(%h) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.object<1>]} : (tensor<16xi8>) -> tensor<16xi8>
  %p = memgraph.opaque "P"(%g) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.object<0>]} : (tensor<16xi8>) -> tensor<16xi8>
  %c = memgraph.concat %p, %q axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -16>]], memgraph.offset = [#memgraph.object<0>]} : (tensor<16xi8>, tensor<16xi8>) -> tensor<32xi8>
  %y = memgraph.opaque "Y"(%c) {memgraph.order = 4 : i64, memgraph.offset = [#memgraph.object<2>]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %y : tensor<16xi8>
}
