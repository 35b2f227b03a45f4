// RUN: memopt-opt --rewrite=broadcast-by-readers,sum-as-mean,moments-as-variance,factors-in-turn,reshape-of-reshape,layer-normalization %s | filecheck %s
// RUN: memopt-opt --rewrite=all --model=inplace=on --rows=all --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=ROWS

// A normalization as flax writes it: sums divided by how many they are of, the mean of squares minus
// the square of the mean, axes that are gone and come back, broadcasts, the scale in the factor.

!x = tensor<1x6x5xf32>
!s = tensor<1x6xf32>
!m = tensor<1x6x1xf32>
!c = tensor<1x1x5xf32>

// CHECK-LABEL: @flax
// CHECK-NOT: memgraph.mean
// CHECK: memgraph.layer_normalization %{{.*}}, %{{.*}}, %{{.*}} axis 2 epsilon 1.000000e-03 :
// CHECK-NOT: memgraph.mul
// ROWS-LABEL: @flax
// ROWS: memgraph.layer_normalization
// ROWS: memgraph.row %
func.func @flax(%a: !x) -> !x {
  %n = memgraph.constant dense<5.0> : tensor<f32>
  %z = memgraph.constant dense<0.0> : tensor<f32>
  %e = memgraph.constant dense<1.0e-03> : tensor<f32>
  %g = memgraph.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]]]> : !c
  %b = memgraph.constant dense<[[[5.0, 4.0, 3.0, 2.0, 1.0]]]> : !c
  %x = memgraph.tanh %a : (!x) -> !x
  %1 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
  %2 = memgraph.div %1, %n : (!s, tensor<f32>) -> !s
  %3 = memgraph.mul %x, %x : (!x, !x) -> !x
  %4 = memgraph.reduce_sum %3 axes [2] : (!x) -> !s
  %5 = memgraph.div %4, %n : (!s, tensor<f32>) -> !s
  %6 = memgraph.mul %2, %2 : (!s, !s) -> !s
  %7 = memgraph.sub %5, %6 : (!s, !s) -> !s
  %8 = memgraph.maximum %z, %7 : (tensor<f32>, !s) -> !s
  %9 = memgraph.reshape %2 : (!s) -> !m
  %10 = memgraph.reshape %8 : (!s) -> !m
  %11 = memgraph.strided %9 start 0 sizes [6, 5] steps [1, 0] : (!m) -> !x
  %12 = memgraph.sub %x, %11 : (!x, !x) -> !x
  %13 = memgraph.add %10, %e : (!m, tensor<f32>) -> !m
  %14 = memgraph.rsqrt %13 : (!m) -> !m
  %15 = memgraph.strided %14 start 0 sizes [6, 5] steps [1, 0] : (!m) -> !x
  %16 = memgraph.mul %15, %g : (!x, !c) -> !x
  %17 = memgraph.mul %12, %16 : (!x, !x) -> !x
  %18 = memgraph.add %17, %b : (!x, !c) -> !x
  func.return %18 : !x
}
