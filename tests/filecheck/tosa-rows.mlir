// Rows of tosa, a dialect of others (dialects/foreign/tosa.py), planned as those of our own operations are.
// RUN: memopt-opt --split-input-file --allow-unregistered-dialect -p memgraph-expand-rows %s | filecheck %s
// RUN: memopt-opt --split-input-file --allow-unregistered-dialect --print-op-generic -p memgraph-expand-rows %s | memopt-opt --split-input-file --allow-unregistered-dialect | filecheck %s
// RUN: memopt-opt --split-input-file --allow-unregistered-dialect --model=alignment=4,inplace=on --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=WHOLE
// RUN: memopt-opt --split-input-file --allow-unregistered-dialect --model=alignment=4,inplace=on --rows=auto --schedule=auto --place=auto --verify-plan %s -o %t.mlir
// RUN: filecheck %s --check-prefix=PLAN --input-file %t.mlir
// RUN: memopt-opt --split-input-file --allow-unregistered-dialect -p "memgraph-verify-plan{placed=true}" %t.mlir | cmp - %t.mlir

// Windows, what is element-wise, and a sum over rows in `acc_type`. Constants go inside, weights are whole.
!x = tensor<1x4x4x2xf16>
!p = tensor<1x4x4x8xf16>
!m = tensor<1x1x1x8xf16>
// CHECK-LABEL: @network
// WHOLE-LABEL: @network
// WHOLE-SAME: peak = 608,
// PLAN-LABEL: @network
// PLAN-SAME: peak = 448, {{.*}}family = rows
// CHECK: %[[F:.*]] = memgraph.row_kernel (%[[X:.*]]: tensor<1x4x4x2xf16>, %{{.*}}: tensor<8x3x3x2xf16>) {
// CHECK-NEXT: "tosa.const"() {{.*}}tensor<8xf16>
// CHECK-NEXT: "tosa.conv2d"(%[[X]],
// CHECK: %[[X0:.*]], %[[X1:.*]], %[[X2:.*]], %[[X3:.*]] = memgraph.split_rows %x :
// CHECK-NEXT: memgraph.row %[[F]][0] (%[[X0]], %[[X1]], %w) :
// CHECK-NEXT: %[[C1:.*]] = memgraph.row %[[F]][1] (%[[X0]], %[[X1]], %[[X2]], %w) :
// CHECK: "tosa.exp"
// CHECK: %[[E:.*]] = memgraph.row {{.*}}[1] (%[[C1]]) : (tensor<1x1x4x8xf16>) -> tensor<1x1x4x8xf16>
// CHECK: tosa.avg_pool2d
// CHECK: %[[A:.*]] = memgraph.row %{{.*}}[0] (%{{.*}}) : (tensor<1x1x4x8xf16>) -> tensor<1x1x1x8xf32>
// CHECK: %[[B:.*]] = memgraph.row %{{.*}}[1] (%[[E]], %[[A]]) : (tensor<1x1x4x8xf16>, tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
// CHECK: memgraph.row %{{.*}}[3] {{.*}} -> tensor<1x1x1x8xf16>
func.func @network(%x: !x, %w: tensor<8x3x3x2xf16>) -> !m {
  %b = "tosa.const"() {values = dense<0.0> : tensor<8xf16>} : () -> tensor<8xf16>
  %0 = "tosa.conv2d"(%x, %w, %b) {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
    : (!x, tensor<8x3x3x2xf16>, tensor<8xf16>) -> !p
  %1 = "tosa.exp"(%0) : (!p) -> !p
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf16>} : () -> tensor<1xf16>
  %2 = tosa.avg_pool2d %1, %z, %z {acc_type = f32, kernel = array<i64: 4, 4>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 4, 4>}
    : (!p, tensor<1xf16>, tensor<1xf16>) -> !m
  func.return %2 : !m
}
// -----
// Stored integers: what is rescaled to another width has no row in place, what is clamped has.
!i = tensor<1x3x2x4xi32>
!q = tensor<1x3x2x4xi8>
// CHECK-LABEL: @stored
// PLAN-LABEL: @stored
// CHECK: tosa.rescale
// CHECK: memgraph.row %{{.*}}[2] (%{{.*}}) : (tensor<1x1x2x4xi32>) -> tensor<1x1x2x4xi8>
// PLAN: memgraph.row %tosa.rescale[2] ({{.*}}) {memgraph.order = {{.*}} -> tensor<1x1x2x4xi8>
func.func @stored(%x: !i) -> !q {
  %k = "tosa.const"() {values = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<8> : tensor<1xi8>} : () -> tensor<1xi8>
  %iz = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %oz = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.rescale %x, %k, %s, %iz, %oz {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
    : (!i, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> !q
  %1 = tosa.clamp %0 {min_val = 0 : i8, max_val = 6 : i8} : (!q) -> !q
  func.return %1 : !q
}
// -----
// Padding by a constant, parts one below the other, and what is broadcast along the rows.
!t = tensor<1x2x2x1xf32>
!u = tensor<1x3x2x1xf32>
!v = tensor<1x5x2x1xf32>
// CHECK-LABEL: @moved
// CHECK: "tosa.pad"
// CHECK: memgraph.row %{{.*}}[0] () : () -> tensor<1x1x2x1xf32>
// CHECK: tosa.concat
// CHECK: memgraph.row %[[C:.*]][2] (%{{.*}}) :
// CHECK: tosa.sub
// CHECK: memgraph.row %{{.*}}[4] (%{{.*}}, %y) :
func.func @moved(%x: !t, %y: tensor<1x1x2x1xf32>) -> !v {
  %p = "tosa.const_shape"() {values = dense<[0, 0, 1, 0, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %0 = "tosa.pad"(%x, %p) : (!t, !tosa.shape<8>) -> !u
  %1 = tosa.concat %0, %x {axis = 1 : i32} : (!u, !t) -> !v
  %2 = tosa.sub %1, %y : (!v, tensor<1x1x2x1xf32>) -> !v
  func.return %2 : !v
}
// -----
// Computed as a whole: what has no rows, what mixes them, padding that is no
// constant, a convolution that says too little.
!t = tensor<1x4x2x4xf32>
// CHECK-LABEL: @whole
// PLAN-LABEL: @whole
// CHECK-NOT: memgraph.row_kernel
func.func @whole(%x: !t, %m: tensor<1x4x4xf32>, %p: tensor<8xi32>) -> (tensor<1x4x4xf32>, tensor<1x1x2x4xf32>, !t, !t) {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.matmul %m, %m, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %1 = tosa.reduce_max %x {axis = 1 : i32} : (!t) -> tensor<1x1x2x4xf32>
  %2 = "tosa.pad"(%x, %p) : (!t, tensor<8xi32>) -> !t
  %3 = "tosa.conv2d"(%x, %x) {stride = array<i64: 1, 1>} : (!t, !t) -> !t
  func.return %0, %1, %2, %3 : tensor<1x4x4xf32>, tensor<1x1x2x4xf32>, !t, !t
}
