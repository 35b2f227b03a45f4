// One seeded bug for every rule of the plan verifier on several memories.
// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-verify-plan{placed=true}" %s

// No bug.
func.func @right(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{fast overflows: 128 B of 112 B}}
func.func @capacity(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 112, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{fast needs 128 B, the plan says 144 B}}
func.func @bank_arena(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 304, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 144, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{356 B are moved in fast, the plan says 355 B}}
func.func @moved(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 355>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{the traffic costs 1060, the plan says 1061}}
func.func @cost(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1061, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{t is in far, which is none of the plan's memories}}
func.func @unknown_bank(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<far, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{x is in fast, but the plan has one arena}}
func.func @no_memories(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{a plan in an old form (memgraph.memories): plan the model again, such as memopt-opt MODEL --schedule=auto --memory=NAME:BYTES,NAME:BYTES -o PLAN.mlir}}
func.func @old_form(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">, memgraph.memories = 1 : i64} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{k has an offset in an arena, but the plan has 2 memories}}
func.func @one_arena(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [0 : i64]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
func.func @overlap(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 96>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  // expected-error@+1 {{k at [0, 128) overwrites t at [96, 128), which is live until step 3}}
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
func.func @scratch_overlap(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  // expected-error@+1 {{scratch at [48, 64) overwrites x at [0, 64)}}
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 48>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{336 B are moved in fast, the plan says 356 B}}
func.func @scratch_bank(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<slow, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{scratch is in far, which is none of the plan's memories}}
func.func @scratch_unknown(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<far, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@+1 {{plan: arena must be the sum of the memories' bytes}}
func.func @sum(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 304, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 128>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
func.func @alignment(%x: tensor<64xi8> {memgraph.offset = #memgraph.slot<fast, 0>}) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 288, lower_bound = 288, proof = flow, family = order, arena = 288, arena_lower_bound = 288, memories = [#memgraph.memory<fast, kind = bank, bytes = 128, capacity = 128, cost = 1, moved = 356>, #memgraph.memory<slow, kind = bank, bytes = 160, capacity = 1024, cost = 2, moved = 352>], traffic = #memgraph.traffic<cost = 1060, lower_bound = 1060, proof = ilp>, fingerprint = "180abefd78214b26a4aa204fa3dd9d19">} {
  // expected-error@+1 {{t: offset 136 is not aligned}}
  %t = memgraph.opaque "T"(%x) {memgraph.scratch = [#memgraph.scratch<10, #memgraph.slot<fast, 64>>], memgraph.order = 0 : i64, memgraph.offset = [#memgraph.slot<slow, 136>]} : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%t) {memgraph.order = 1 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<32xi8>) -> tensor<128xi8>
  %k = memgraph.opaque "K"(%b) {memgraph.order = 2 : i64, memgraph.offset = [#memgraph.slot<slow, 0>]} : (tensor<128xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%k, %t) {memgraph.order = 3 : i64, memgraph.offset = [#memgraph.slot<fast, 0>]} : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
