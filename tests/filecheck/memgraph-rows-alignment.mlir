// RUN: memopt-opt -p "memgraph-model{alignment=16 inplace=on},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s -o %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: sed "/memgraph.row %m.[01]/s/offset = .16/offset = [18/" %t.mlir > %t.sum.mlir
// RUN: not memopt-opt --verify-plan %t.sum.mlir 2>&1 | filecheck %s --check-prefix=SUM
// SUM: error: {{.*}}: offset 18 is not aligned
// RUN: sed "/memgraph.row %m.2/s/offset = .0/offset = [1/" %t.mlir > %t.whole.mlir
// RUN: not memopt-opt --verify-plan %t.whole.mlir 2>&1 | filecheck %s --check-prefix=WHOLE
// WHOLE: error: {{.*}}: offset 1 is not aligned

// A row that lies alone is aligned as its elements are, and takes no more bytes than they: of int8 that
// is anywhere, of a sum in int32 4 bytes. Whole tensors are aligned as the model says, and rounded up.
// CHECK: peak = 41, lower_bound = 41, proof = flow, family = rows, arena = 41, arena_lower_bound = 41
// CHECK: memgraph.row %y[1] {{.*}}memgraph.offset = [5 : i64]
// CHECK: memgraph.row %m[0] {{.*}}memgraph.offset = [16 : i64]{{.*}} -> tensor<1x5xi32>
// CHECK: memgraph.row %m[2] {{.*}}memgraph.offset = [0 : i64]
!t = tensor<1x3x1x5xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!m = tensor<1x5xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
func.func @main(%x: !t) -> !m {
  %y = memgraph.max_pool_2d %x window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
  %m = memgraph.mean %y axes [1, 2] rounding<tflm_double> : (!t) -> !m
  func.return %m : !m
}
