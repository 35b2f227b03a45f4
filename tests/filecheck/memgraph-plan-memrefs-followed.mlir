// Where memrefs lie is followed through types without a rank and through calls, and what an operation reads beside its
// source keeps its place.
// RUN: memopt-opt --split-input-file --allow-unregistered-dialect -p "memgraph-plan-memrefs{replace=false}" %s | filecheck %s --check-prefix=FIXED
// RUN: memopt-opt --split-input-file --allow-unregistered-dialect -p "memgraph-plan-memrefs{order=free}" %s | filecheck %s

// An allocation is in use while it is read by a cast of a cast.
// FIXED-LABEL: @unranked
// FIXED-SAME: peak = 128
// CHECK-LABEL: @unranked
func.func @unranked(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %u = "memref.cast"(%a) : (memref<16xf32>) -> memref<*xf32>
  %w = "memref.cast"(%u) : (memref<*xf32>) -> memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.exp ins(%b : memref<16xf32>) outs(%y : memref<16xf32>)
  linalg.exp ins(%w : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
// -----
// What a call returns may be a global: storing into it stays behind the load, though %a would be free sooner.
// CHECK-LABEL: func.func @main
// CHECK: memref.load %g
// CHECK: memref.store %c, %r
"memref.global"() <{sym_name = "g", sym_visibility = "private", type = memref<16xf32>, initial_value = dense<1.0> : tensor<16xf32>}> : () -> ()
func.func private @f(%x: memref<16xf32>) -> memref<16xf32> {
  %g = memref.get_global @g : memref<16xf32>
  func.return %g : memref<16xf32>
}
func.func @main(%x: memref<16xf32>, %i: index, %c: f32) {
  %a = memref.alloc() : memref<16xf32>
  memref.store %c, %a[%i] : memref<16xf32>
  %r = func.call @f(%a) : (memref<16xf32>) -> memref<16xf32>
  %big = memref.alloc() : memref<1600xf32>
  memref.store %c, %big[%i] : memref<1600xf32>
  %g = memref.get_global @g : memref<16xf32>
  %e = memref.load %g[%i] : memref<16xf32>
  memref.store %e, %big[%i] : memref<1600xf32>
  %d = memref.load %big[%i] : memref<1600xf32>
  memref.store %c, %r[%i] : memref<16xf32>
  memref.store %d, %x[%i] : memref<16xf32>
  func.return
}
// -----
// The shape that a reshape reads is that of its place.
// CHECK-LABEL: @reshape
// CHECK: memref.store %n4, %sh
// CHECK: "memref.reshape"
// CHECK: memref.store %n2, %sh
func.func @reshape(%x: memref<16xf32>, %p: memref<16xf32>, %i: index, %n4: index, %n2: index, %c: f32) {
  %sh = memref.alloc() : memref<1xindex>
  memref.store %n4, %sh[%i] : memref<1xindex>
  %r = "memref.reshape"(%p, %sh) : (memref<16xf32>, memref<1xindex>) -> memref<?xf32>
  memref.store %n2, %sh[%i] : memref<1xindex>
  %z = memref.load %sh[%i] : memref<1xindex>
  %big = memref.alloc() : memref<1600xf32>
  memref.store %c, %big[%z] : memref<1600xf32>
  "memref.copy"(%r, %r) : (memref<?xf32>, memref<?xf32>) -> ()
  %d = memref.load %big[%i] : memref<1600xf32>
  memref.store %d, %x[%i] : memref<16xf32>
  func.return
}
// -----
// A function whose allocations have no bytes is called as it was.
// CHECK-LABEL: func.func private @empty
// CHECK-SAME: (%x: memref<0xf32>)
// CHECK: func.call @empty(%x) : (memref<0xf32>) -> ()
func.func private @empty(%x: memref<0xf32>) {
  %a = memref.alloc() : memref<0xf32>
  linalg.exp ins(%x : memref<0xf32>) outs(%a : memref<0xf32>)
  func.return
}
func.func @caller(%x: memref<0xf32>) {
  func.call @empty(%x) : (memref<0xf32>) -> ()
  func.return
}
