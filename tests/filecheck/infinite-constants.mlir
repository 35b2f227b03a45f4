// RUN: memopt-opt %s | memopt-opt | filecheck %s

// What is infinite, or no number, is printed as bytes, as which it is read again.
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: memgraph.constant dense<"0x000080ff00000000"> : tensor<2xf32>
  %0 = memgraph.constant dense<"0x000080FF00000000"> : tensor<2xf32>
  // CHECK: memgraph.constant dense<-3.40282347e+38> : tensor<2xf32>
  %1 = memgraph.constant dense<-3.40282347e+38> : tensor<2xf32>
  %2 = memgraph.maximum %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = memgraph.add %x, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %3 : tensor<2xf32>
}

// A hexadecimal float is its bits, as MLIR prints infinite ones.
// CHECK-LABEL: @bits
// CHECK: arith.constant dense<0xff800000> : tensor<2xf32>
// CHECK: arith.constant dense<[0x7fc00000, 1.000000e+00]> : tensor<2xf32>
// CHECK: arith.constant dense<1.000000e+00> : tensor<2xf16>
// CHECK: arith.constant dense<31744> : tensor<2xi32>
func.func @bits() {
  %0 = arith.constant dense<0xFF800000> : tensor<2xf32>
  %1 = arith.constant dense<[0x7FC00000, 0x3F800000]> : tensor<2xf32>
  %2 = arith.constant dense<0x3C00> : tensor<2xf16>
  %3 = arith.constant dense<0x7C00> : tensor<2xi32>
  func.return
}
