// What memgraph-plan-memrefs cannot follow is refused by name and place.
// RUN: memopt-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect --plan-memrefs=free %s
// RUN: memopt-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect -p "memgraph-plan-memrefs{replace=false}" %s

func.func @dynamic(%n: index) {
  // expected-error@+1 {{memref.alloc of memref<?xf32> has a dynamic size}}
  %a = memref.alloc(%n) : memref<?xf32>
  func.return
}
// -----
func.func @space() {
  // expected-error@+1 {{memref.alloc of memref<4xf32, 1 : i64> is in a memory space of its own}}
  %a = memref.alloc() : memref<4xf32, 1 : i64>
  func.return
}
// -----
func.func @layout() {
  // expected-error@+1 {{has a layout of its own}}
  %a = memref.alloc() : memref<4x4xf32, strided<[1, 4]>>
  func.return
}
// -----
func.func @unknown() {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{other.keep takes a memref, and what it does with it is not known}}
  "other.keep"(%a) : (memref<4xf32>) -> ()
  func.return
}
// -----
func.func private @outside(memref<4xf32>) -> ()
func.func @declared() {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{a escapes into @outside, which has no body}}
  func.call @outside(%a) : (memref<4xf32>) -> ()
  func.return
}
// -----
func.func @returned() -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{a is allocated here and returned; make it an argument with mlir-opt --buffer-results-to-out-params}}
  func.return %a : memref<4xf32>
}
// -----
func.func private @again(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{@again calls itself, so it has no one frame}}
  func.call @again(%a) : (memref<4xf32>) -> ()
  func.return
}
// -----
func.func @shared() {
  %a = memref.alloc() : memref<4xf32>
  func.return
}
func.func @caller() {
  // expected-error@+1 {{@shared is called and gets its arena as an argument, but it is not private}}
  func.call @shared() : () -> ()
  func.return
}
// -----
func.func @pointer() -> index {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{memref.extract_aligned_pointer_as_index takes out a pointer, which no plan follows}}
  %p = "memref.extract_aligned_pointer_as_index"(%a) : (memref<4xf32>) -> index
  func.return %p : index
}
// -----
func.func @blocks(%c: i1) {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{scf.execute_region has a region of 2 blocks}}
  "scf.execute_region"() ({
    "cf.br"() [^bb1] : () -> ()
  ^bb1:
    "scf.yield"() : () -> ()
  }) : () -> ()
  func.return
}
// -----
func.func @parallel(%n: index) {
  %one = arith.constant 1 : index
  "scf.parallel"(%n, %n, %one) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    // expected-error@+1 {{memref.alloc inside scf.parallel, whose iterations may run at one time}}
    %a = memref.alloc() : memref<4xf32>
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  func.return
}
// -----
func.func @frees(%c: i1, %x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %s = arith.select %c, %a, %x : memref<4xf32>
  // expected-error@+1 {{memref.dealloc frees an allocation or what is the caller's}}
  memref.dealloc %s : memref<4xf32>
  func.return
}
// -----
func.func @two_before(%n: index, %x: memref<4xf32>) {
  %one = arith.constant 1 : index
  %p, %q = scf.for %i = %n to %n step %one iter_args(%a = %x, %b = %x) -> (memref<4xf32>, memref<4xf32>) {
    // expected-error@+1 {{t is in use with those of two iterations before}}
    %t = memref.alloc() : memref<4xf32>
    linalg.add ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%t : memref<4xf32>)
    scf.yield %t, %a : memref<4xf32>, memref<4xf32>
  }
  func.return
}
// -----
func.func @while(%c: i1, %x: memref<4xf32>) {
  %r = scf.while (%a = %x) : (memref<4xf32>) -> (memref<4xf32>) {
    scf.condition(%c) %a : memref<4xf32>
  } do {
  ^bb0(%a: memref<4xf32>):
    // expected-error@+1 {{scf.while carries an allocation into the next one's lifetime; only scf.for takes turns}}
    %t = memref.alloc() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%t : memref<4xf32>)
    scf.yield %t : memref<4xf32>
  }
  func.return
}
// -----
func.func @two_loops(%n: index, %x: memref<4xf32>) {
  %one = arith.constant 1 : index
  %p = scf.for %i = %n to %n step %one iter_args(%a = %x) -> (memref<4xf32>) {
    %q = scf.for %j = %n to %n step %one iter_args(%b = %a) -> (memref<4xf32>) {
      // expected-error@+1 {{memref.alloc is carried by 2 loops}}
      %t = memref.alloc() : memref<4xf32>
      linalg.exp ins(%b : memref<4xf32>) outs(%t : memref<4xf32>)
      scf.yield %t : memref<4xf32>
    }
    scf.yield %q : memref<4xf32>
  }
  func.return
}
// -----
func.func private @print(memref<*xf32>)
func.func @unranked(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %u = "memref.cast"(%a) : (memref<4xf32>) -> memref<*xf32>
  // expected-error@+1 {{u escapes into @print, which has no body}}
  func.call @print(%u) : (memref<*xf32>) -> ()
  func.return
}
// -----
func.func @pointer(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{builtin.unrealized_conversion_cast makes !llvm.ptr of a memref, which no plan follows}}
  %p = builtin.unrealized_conversion_cast %a : memref<4xf32> to !llvm.ptr
  func.return
}
// -----
func.func @pointer_as_a_number(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{builtin.unrealized_conversion_cast makes i64 of a memref, which no plan follows}}
  %p = builtin.unrealized_conversion_cast %a : memref<4xf32> to i64
  func.return
}
// -----
func.func @later(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{async.execute has a memref in its regions, and when these run is not known}}
  %t = "async.execute"() ({
    linalg.exp ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
    "async.yield"() : () -> ()
  }) : () -> !async.token
  "async.await"(%t) : (!async.token) -> ()
  func.return
}
