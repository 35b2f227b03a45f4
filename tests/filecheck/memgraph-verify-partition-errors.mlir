// One seeded bug for every rule of the plan verifier on partitions: parts run one after the other.
// The fingerprint is that of the function with the bug, so that nothing else is wrong.
// RUN: memopt-opt --split-input-file --verify-diagnostics --verify-plan %s

func.func @decreasing(%x: tensor<16xi8> {memgraph.offset = 0 : i64}) -> (tensor<16xi8>, tensor<16xi8>) attributes {memgraph.model = #memgraph.model<target = generic, alignment = 16, io = arena, views = on, inplace = off, scratch = none>, memgraph.plan = #memgraph.plan<peak = 48, lower_bound = 32, proof = none, family = order, arena = 48, arena_lower_bound = 32, fingerprint = "9b4d4087fd1d277b64460b17560e229b">} {
  %a = memgraph.opaque "A"(%x) {memgraph.partition = 2 : i64, memgraph.order = 0 : i64, memgraph.offset = [16 : i64]} : (tensor<16xi8>) -> tensor<16xi8>
  // expected-error@+1 {{'B (b)' of part 1 runs after part 2 has begun}}
  %b = memgraph.opaque "B"(%x) {memgraph.partition = 1 : i64, memgraph.order = 1 : i64, memgraph.offset = [32 : i64]} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %a, %b : tensor<16xi8>, tensor<16xi8>
}
// -----
func.func @some(%x: tensor<16xi8> {memgraph.offset = 0 : i64}) -> (tensor<16xi8>, tensor<16xi8>) attributes {memgraph.model = #memgraph.model<target = generic, alignment = 16, io = arena, views = on, inplace = off, scratch = none>, memgraph.plan = #memgraph.plan<peak = 48, lower_bound = 32, proof = none, family = order, arena = 48, arena_lower_bound = 32, fingerprint = "b2e23f03b33ee423a784f20f2f242645">} {
  %a = memgraph.opaque "A"(%x) {memgraph.partition = 0 : i64, memgraph.order = 0 : i64, memgraph.offset = [16 : i64]} : (tensor<16xi8>) -> tensor<16xi8>
  // expected-error@+1 {{'B (b)' has no memgraph.partition, other operations have}}
  %b = memgraph.opaque "B"(%x) {memgraph.order = 1 : i64, memgraph.offset = [32 : i64]} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %a, %b : tensor<16xi8>, tensor<16xi8>
}
// -----
func.func @word(%x: tensor<16xi8> {memgraph.offset = 0 : i64}) -> (tensor<16xi8>, tensor<16xi8>) attributes {memgraph.model = #memgraph.model<target = generic, alignment = 16, io = arena, views = on, inplace = off, scratch = none>, memgraph.plan = #memgraph.plan<peak = 48, lower_bound = 32, proof = none, family = order, arena = 48, arena_lower_bound = 32, fingerprint = "18d8dd77e332748acf71c3b10713f4f1">} {
  %a = memgraph.opaque "A"(%x) {memgraph.partition = 0 : i64, memgraph.order = 0 : i64, memgraph.offset = [16 : i64]} : (tensor<16xi8>) -> tensor<16xi8>
  // expected-error@+1 {{memgraph.partition must be a number from 0 on}}
  %b = memgraph.opaque "B"(%x) {memgraph.partition = "second", memgraph.order = 1 : i64, memgraph.offset = [32 : i64]} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %a, %b : tensor<16xi8>, tensor<16xi8>
}
