// Operations that may move do, by what they read and write: the wide buffers come one after the
// other, and what stores stays before what loads.
// RUN: memopt-opt --split-input-file -p "memgraph-plan-memrefs{replace=false}" %s | filecheck %s --check-prefix=FIXED
// RUN: memopt-opt --split-input-file -p "memgraph-plan-memrefs{order=free replace=false}" %s | filecheck %s
// RUN: memopt-opt --split-input-file -p "memgraph-plan-memrefs{order=free arena=argument}" %s | filecheck %s --check-prefix=GIVEN

// FIXED: peak = 528
// CHECK: peak = 288, lower_bound = 288
// GIVEN: @wide(%0: memref<288xi8>, %x: memref<4xf32>, %y: memref<4xf32>)
// GIVEN-NOT: memref.alloc
func.func @wide(%x: memref<4xf32>, %y: memref<4xf32>) {
  %zero = arith.constant 0 : index
  %v = memref.load %x[%zero] : memref<4xf32>
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  %c = memref.alloc() : memref<4xf32>
  %d = memref.alloc() : memref<4xf32>
  linalg.fill ins(%v : f32) outs(%a : memref<64xf32>)
  linalg.fill ins(%v : f32) outs(%b : memref<64xf32>)
  %s = memref.subview %a[0] [4] [1] : memref<64xf32> to memref<4xf32, strided<[1]>>
  "memref.copy"(%s, %c) : (memref<4xf32, strided<[1]>>, memref<4xf32>) -> ()
  %t = memref.subview %b[0] [4] [1] : memref<64xf32> to memref<4xf32, strided<[1]>>
  "memref.copy"(%t, %d) : (memref<4xf32, strided<[1]>>, memref<4xf32>) -> ()
  linalg.add ins(%c, %d : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
  func.return
}
