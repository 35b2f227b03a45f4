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
