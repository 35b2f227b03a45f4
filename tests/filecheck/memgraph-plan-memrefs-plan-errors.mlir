// What a plan of memrefs says is derived again before it is put in place.
// RUN: memopt-opt --split-input-file --verify-diagnostics --plan-memrefs=fixed %s

// Over what a view of it still reads.
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {memgraph.plan = #memgraph.plan<peak = 128, lower_bound = 128, proof = flow, family = order, arena = 128, arena_lower_bound = 128, fingerprint = "a366628856342edc728af5ca3a3ac7d3">} {
  %a = memref.alloc() {memgraph.offset = [0 : i64]} : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %v = "memref.cast"(%a) : (memref<16xf32>) -> memref<?xf32>
  %w = "memref.cast"(%v) : (memref<?xf32>) -> memref<16xf32>
  %b = memref.alloc() {memgraph.offset = [0 : i64]} : memref<16xf32>
  // expected-error@+1 {{linalg.exp reads a, which is overwritten by then}}
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.add ins(%w, %b : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
// -----
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {memgraph.plan = #memgraph.plan<peak = 128, lower_bound = 128, proof = flow, family = order, arena = 128, arena_lower_bound = 128, fingerprint = "a366628856342edc728af5ca3a3ac7d3">} {
  %a = memref.alloc() {memgraph.offset = [0 : i64]} : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %v = "memref.cast"(%a) : (memref<16xf32>) -> memref<?xf32>
  %w = "memref.cast"(%v) : (memref<?xf32>) -> memref<16xf32>
  // expected-error@+1 {{b: offset 8 is no multiple of 16}}
  %b = memref.alloc() {memgraph.offset = [8 : i64]} : memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.add ins(%w, %b : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
// -----
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {memgraph.plan = #memgraph.plan<peak = 128, lower_bound = 128, proof = flow, family = order, arena = 128, arena_lower_bound = 128, fingerprint = "a366628856342edc728af5ca3a3ac7d3">} {
  %a = memref.alloc() {memgraph.offset = [0 : i64]} : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %v = "memref.cast"(%a) : (memref<16xf32>) -> memref<?xf32>
  %w = "memref.cast"(%v) : (memref<?xf32>) -> memref<16xf32>
  // expected-error@+1 {{b ends at 192 B, the arena at 128 B}}
  %b = memref.alloc() {memgraph.offset = [128 : i64]} : memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.add ins(%w, %b : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
// -----
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {memgraph.plan = #memgraph.plan<peak = 128, lower_bound = 128, proof = flow, family = order, arena = 128, arena_lower_bound = 128, fingerprint = "a366628856342edc728af5ca3a3ac7d3">} {
  %a = memref.alloc() {memgraph.offset = [0 : i64]} : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %v = "memref.cast"(%a) : (memref<16xf32>) -> memref<?xf32>
  %w = "memref.cast"(%v) : (memref<?xf32>) -> memref<16xf32>
  // expected-error@+1 {{b has no offset}}
  %b = memref.alloc() : memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.add ins(%w, %b : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
// -----
// expected-error@unknown {{the peak is 128 B, the plan says 112 B}}
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {memgraph.plan = #memgraph.plan<peak = 112, lower_bound = 112, proof = flow, family = order, arena = 128, arena_lower_bound = 128, fingerprint = "a366628856342edc728af5ca3a3ac7d3">} {
  %a = memref.alloc() {memgraph.offset = [0 : i64]} : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %v = "memref.cast"(%a) : (memref<16xf32>) -> memref<?xf32>
  %w = "memref.cast"(%v) : (memref<?xf32>) -> memref<16xf32>
  %b = memref.alloc() {memgraph.offset = [64 : i64]} : memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.add ins(%w, %b : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
// -----
// expected-error@unknown {{the arena is 128 B, the plan says 144 B}}
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {memgraph.plan = #memgraph.plan<peak = 128, lower_bound = 128, proof = flow, family = order, arena = 144, arena_lower_bound = 128, fingerprint = "a366628856342edc728af5ca3a3ac7d3">} {
  %a = memref.alloc() {memgraph.offset = [0 : i64]} : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %v = "memref.cast"(%a) : (memref<16xf32>) -> memref<?xf32>
  %w = "memref.cast"(%v) : (memref<?xf32>) -> memref<16xf32>
  %b = memref.alloc() {memgraph.offset = [64 : i64]} : memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.add ins(%w, %b : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
// -----
// expected-error@unknown {{stale plan: the function has changed since it was planned}}
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {memgraph.plan = #memgraph.plan<peak = 128, lower_bound = 128, proof = flow, family = order, arena = 128, arena_lower_bound = 128, fingerprint = "a366628856342edc728af5ca3a3ac7d3">} {
  %a = memref.alloc() {memgraph.offset = [0 : i64]} : memref<16xf32>
  linalg.log ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %v = "memref.cast"(%a) : (memref<16xf32>) -> memref<?xf32>
  %w = "memref.cast"(%v) : (memref<?xf32>) -> memref<16xf32>
  %b = memref.alloc() {memgraph.offset = [64 : i64]} : memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.add ins(%w, %b : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
