// One seeded bug for every rule of the plan verifier. The plan is that of --schedule=source
// --place=greedy-by-size; where the bug is in what the fingerprint covers, the fingerprint is that of
// the function with the bug.
// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-verify-plan{placed=true}" %s

// expected-error@unknown {{the function has no plan; run --schedule and --place first}}
func.func @no_plan(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{memgraph.plan must be a #memgraph.plan}}
func.func @plan_kind(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = 1 : i64} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{memgraph.model must be a #memgraph.model}}
func.func @model_kind(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = "generic", memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{stale plan: the function has changed since it was planned}}
func.func @stale_operation(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "other"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{stale plan}}
func.func @stale_type(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<8xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{stale plan}}
func.func @stale_model(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<alignment = 32>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{stale plan}}
func.func @stale_alias(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{stale plan}}
func.func @stale_order(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{stale plan}}
func.func @stale_scratch(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<4, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @order_gap(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "3ff5571c44fa17d281b19b2f5e4dd286">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  // expected-error@+1 {{memgraph.order is 5, block order 4}}
  %c = memgraph.opaque "C"(%r) {memgraph.order = 5 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @order_not_block_order(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "3958f9d0c267e0692fb2719b50b0f500">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  // expected-error@+1 {{memgraph.order is 4, block order 3}}
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @order_missing(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "25bb9cdd7da0e9752eac93a4fcdf9686">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  // expected-error@+1 {{memgraph.order is None, block order 3}}
  %d = memgraph.opaque "dead"(%y) {memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @order_kind(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "0fd2de447eb67741788ae44e197ebcf0">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  // expected-error@+1 {{memgraph.order is None, block order 3}}
  %d = memgraph.opaque "dead"(%y) {memgraph.order = "3", memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @order_on_view(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "fd70802d8c988d25b3c93347f4059eac">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  // expected-error@+1 {{memgraph.order on an operation that does not execute}}
  %v = memgraph.reshape %a {memgraph.order = 1 : i64, memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @order_on_constant(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "97eb7011a8dea19cfb90cf5b2d0cd480">} {
  // expected-error@+1 {{memgraph.order on an operation that does not execute}}
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.order = 0 : i64, memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{the peak is 176 B, the plan says 160 B}}
func.func @peak(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 160, lower_bound = 160, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{the arena needs 176 B, the plan says 192 B}}
func.func @arena_too_large(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 192, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{the arena needs 176 B, the plan says 160 B}}
func.func @arena_one_unit_too_small(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 160, arena_lower_bound = 160, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{the plan has no offsets; run --place first}}
func.func @not_placed(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @offset_missing(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  // expected-error@+1 {{memgraph.offset is missing}}
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @offset_count(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  // expected-error@+1 {{memgraph.offset must list one place per result}}
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64, 0 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @offset_list(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  // expected-error@+1 {{memgraph.offset must list one place per result}}
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = 144 : i64} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @offset_kind(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  // expected-error@+1 {{b: "here" is no place}}
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = ["here"]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@+1 {{x has no place}}
func.func @argument_missing(%x: tensor<32xi8>, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @unaligned(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  // expected-error@+1 {{d: offset 8 is not aligned}}
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [8 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @negative(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  // expected-error@+1 {{d: offset -16 is not aligned}}
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [-16 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @overlap_operand(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  // expected-error@+1 {{a at [48, 112) overwrites x at [64, 96), which is live until step 0}}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [48 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@+1 {{y at [80, 112) overwrites x at [64, 96), which is live until step 0}}
func.func @overlap_inputs(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 80 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @overlap_dead_result(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  // expected-error@+1 {{d at [144, 160) overwrites r at [144, 176), which is live until step 5}}
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @overlap_through_view(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  // expected-error@+1 {{b at [48, 80) overwrites a at [0, 64), which is live until step 1}}
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [48 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @view_elsewhere(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  // expected-error@+1 {{v is a view of a but lies elsewhere}}
  %v = memgraph.reshape %a {memgraph.offset = [16 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @inplace_elsewhere(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  // expected-error@+1 {{r is in place of b but lies elsewhere}}
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @inplace_of_live(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "76f0c99bed0343483f356fdc1713d069">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  // expected-error@+1 {{r cannot take the place of b}}
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%b) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @inplace_of_returned(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "915d0ac4780864ef2af460592c8e03f5">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  // expected-error@+1 {{r cannot take the place of b}}
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %b : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @scratch_on_operand(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  // expected-error@+1 {{scratch at [32, 64) overwrites a at [0, 64), which is live until step 1}}
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 32>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @scratch_on_result(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  // expected-error@+1 {{scratch at [160, 192) overwrites b at [144, 176)}}
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 160>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @scratch_on_scratch(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  // expected-error@+1 {{scratch at [80, 96) overwrites scratch at [64, 96), which is live until step 1}}
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 80>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @scratch_unaligned(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  // expected-error@+1 {{scratch is not aligned}}
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 72>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @scratch_without_offset(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  // expected-error@+1 {{scratch has no offset}}
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{the arena needs 192 B, the plan says 176 B}}
func.func @scratch_above_arena(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 176>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @constant_with_offset(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  // expected-error@+1 {{w has an offset but is not in the arena}}
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [176 : i64]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @buffer_as_constant(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  // expected-error@+1 {{d is a buffer of the arena, not #memgraph.unplaced<constant>}}
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.unplaced<constant>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@+1 {{x is a buffer of the arena, not #memgraph.unplaced<caller>}}
func.func @buffer_as_caller(%x: tensor<32xi8> {memgraph.offset = #memgraph.unplaced<caller>}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @buffer_as_runtime(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  // expected-error@+1 {{d is a buffer of the arena, not #memgraph.unplaced<runtime>}}
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.unplaced<runtime>]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@+1 {{x has an offset but is not in the arena}}
func.func @caller_with_offset(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<io = caller>, memgraph.plan = #memgraph.plan<peak = 144, lower_bound = 144, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "69fa05d293ece12da41eebbe87871b0e">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @kept_overwritten(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<io = kept>, memgraph.plan = #memgraph.plan<peak = 208, lower_bound = 208, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "07e8dd25eef7260c10ca7db2bbb02d73">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 176>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  // expected-error@+1 {{d at [64, 80) overwrites x at [64, 96), which is live until step 5}}
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 3 : i64, memgraph.offset = [64 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
func.func @used_before_made(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  // expected-error@+1 {{r is used before it is made}}
  %c = memgraph.opaque "C"(%r) {memgraph.order = 2 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 3 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.opaque "dead"(%y) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{the function has hyper-nodes; run --schedule to get a flat one}}
func.func @hyper_node(%x: tensor<32xi8> {memgraph.offset = 64 : i64}, %y: tensor<32xi8> {memgraph.offset = 112 : i64}) -> (tensor<16xi8>, tensor<32xi8>) attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 176, lower_bound = 176, proof = flow, family = order, arena = 176, arena_lower_bound = 176, fingerprint = "e3690776ad6aca80935fb40a939186a1">} {
  %w = memgraph.constant dense<1> : tensor<4xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  %a = memgraph.opaque "A"(%x, %w) {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>, tensor<4xi8>) -> tensor<64xi8>
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %b = memgraph.opaque "B"(%v) {memgraph.scratch = [#memgraph.scratch<32, 64>, #memgraph.scratch<8, 96>], memgraph.order = 1 : i64, memgraph.offset = [144 : i64]} : (tensor<8x8xi8>) -> tensor<32xi8>
  %r = memgraph.add %b, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 2 : i64, memgraph.offset = [144 : i64]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  %d = memgraph.fused (%i = %y : tensor<32xi8>) -> tensor<16xi8> {
    %j = memgraph.opaque "dead"(%i) : (tensor<32xi8>) -> tensor<16xi8>
    memgraph.yield %j : tensor<16xi8>
  }
  %c = memgraph.opaque "C"(%r) {memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (tensor<32xi8>) -> tensor<16xi8>
  func.return %c, %r : tensor<16xi8>, tensor<32xi8>
}
// -----
// expected-error@unknown {{a function of 2 blocks cannot be planned, only of one}}
func.func @blocks(%x: tensor<4xi8>) attributes {memgraph.plan = #memgraph.plan<peak = 16, lower_bound = 16, proof = none, family = order, fingerprint = "">} {
  cf.br ^bb1
^bb1:
  func.return
}
// -----
// expected-error@unknown {{there is no function to verify}}
builtin.module {
}
