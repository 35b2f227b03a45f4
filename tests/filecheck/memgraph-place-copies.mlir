// Copies that the network has are its own operators, no moves of a plan over several memories, and
// in place is decided with them.
// RUN: memopt-opt --model=alignment=4,inplace=on --fuse --schedule=auto %s | memopt-opt --place=best-fit --verify-plan | filecheck %s

!t = tensor<1x4x6x8xi8, #memgraph.encoding<nhwc, scale = [5.0e-02], zero_point = [3]>>
// CHECK: func.func @main{{.*}}peak = 576, lower_bound = 576
// CHECK: %b = memgraph.copy %a
// CHECK: %c = memgraph.copy %b
// CHECK: %d = memgraph.relu %c {{.*}}kind = inplace
// CHECK: %e = memgraph.add %d, %a {{.*}}kind = inplace
func.func @main(%x: !t) -> (!t, !t) {
  %a = memgraph.relu %x rounding<tflm_double> : (!t) -> !t
  %b = memgraph.copy %a : (!t) -> !t
  %c = memgraph.copy %b : (!t) -> !t
  %d = memgraph.relu %c rounding<tflm_double> : (!t) -> !t
  %e = memgraph.add %d, %a activation<relu> rounding<tflm_double> : (!t, !t) -> !t
  func.return %e, %d : !t, !t
}
