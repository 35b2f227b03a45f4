// RUN: sed -n '/^func.func @pad3/,/^}/p' %s > %t.pad3.mlir
// RUN: not memopt-opt -p "memgraph-expand-rows,memgraph-model{target=host alignment=4},memgraph-schedule,memgraph-place" -t c %t.pad3.mlir 2>&1 | filecheck %s --check-prefix=PAD
// RUN: sed -n '/^func.func @joined/,/^}/p' %s > %t.joined.mlir
// RUN: not memopt-opt -p "memgraph-expand-rows,memgraph-model{target=host alignment=4},memgraph-schedule,memgraph-place" -t c %t.joined.mlir 2>&1 | filecheck %s --check-prefix=JOINED
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-expand-rows" %t.pad3.mlir | filecheck %s --check-prefix=WHOLE
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-expand-rows" %t.joined.mlir | filecheck %s --check-prefix=WHOLE
// RUN: sed -n '/^func.func @deep/,/^}/p' %s > %t.deep.mlir
// RUN: not memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-expand-rows,memgraph-schedule,memgraph-place" -t c %t.deep.mlir 2>&1 | filecheck %s --check-prefix=DEEP
// RUN: not memopt-opt -p "memgraph-model{target=host alignment=1},memgraph-expand-rows,memgraph-schedule,memgraph-place" -t c %t.pad3.mlir 2>&1 | filecheck %s --check-prefix=ALIGNED

// What computes no rows in C stays whole where the target is known, else it is refused by name.
// WHOLE-NOT: memgraph.row
// WHOLE: func.return
// PAD: pad3.mlir:2:{{[0-9]+}}: error: C backend: rows of a pad of 3 dimensions
// ALIGNED: error: C backend: {{.*}} is not aligned to its 4 byte elements
func.func @pad3(%x: tensor<1x3x4xf32>) -> tensor<1x5x4xf32> {
  %y = memgraph.pad %x before [0, 1, 0] after [0, 1, 0] value 0.0 : (tensor<1x3x4xf32>) -> tensor<1x5x4xf32>
  func.return %y : tensor<1x5x4xf32>
}

// JOINED: joined.mlir:3:{{[0-9]+}}: error: C backend: rows of a concatenation along the height with a constant
func.func @joined(%x: tensor<1x3x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %c = memgraph.constant dense<1.0> : tensor<1x1x4x1xf32>
  %y = memgraph.concat %x, %c axis 1 : (tensor<1x3x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x4x4x1xf32>
  func.return %y : tensor<1x4x4x1xf32>
}

// DEEP: deep.mlir:2:{{[0-9]+}}: error: C backend: no kernel for memgraph.tanh on i32
func.func @deep(%x: tensor<1x3x4x4xi32>) -> tensor<1x3x4x4xi32> {
  %y = memgraph.tanh %x : (tensor<1x3x4x4xi32>) -> tensor<1x3x4x4xi32>
  func.return %y : tensor<1x3x4x4xi32>
}

// RUN: sed -n '/^func.func @two/,/^}/p' %s > %t.two.mlir
// RUN: not memopt-opt --schedule=source --place=auto -t c %t.two.mlir 2>&1 | filecheck %s --check-prefix=TWO
// TWO: error: C backend: an input received in rows is the only one, here are x, y
func.func @two(%x: tensor<1x1x4x1xf32>, %y: tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32> {
  %x0 = memgraph.receive %x[0] : tensor<1x1x4x1xf32>
  %z = memgraph.add %x0, %y : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
  func.return %z : tensor<1x1x4x1xf32>
}

// RUN: sed -n '/^func.func @uncut/,/^}/p' %s > %t.uncut.mlir
// RUN: not memopt-opt --schedule=source --place=auto -t c %t.uncut.mlir 2>&1 | filecheck %s --check-prefix=UNCUT
// UNCUT: error: C backend: rows are received, and no operator runs in rows
func.func @uncut(%x: tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32> {
  %x0 = memgraph.receive %x[0] : tensor<1x1x4x1xf32>
  %z = memgraph.relu %x0 : (tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
  func.return %z : tensor<1x1x4x1xf32>
}
