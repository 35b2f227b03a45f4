// RUN: not memopt-opt --split-input-file --slide=2 %s 2>&1 | filecheck %s
// RUN: not memopt-opt --slide=0 %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not memopt-opt --slide=x %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not memopt-opt -p "memgraph-expand-rows{stream-input=true},memgraph-slide{rows=2},memgraph-slide{rows=2}" %S/memgraph-slide-rows.mlir 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not memopt-opt --slide=2 --schedule=auto --memory=a:64,b:4K %S/memgraph-slide-rows.mlir 2>&1 | filecheck %s --check-prefix=MEMORY

// NONE: --slide={{.}}: a number of rows, from 1 on
// TWICE: @main: error: memgraph-slide: rows are kept from run to run already
// MEMORY: memgraph-memory: rows that stay from run to run (x_kept) have no place in it
// Every other row of the input is read by every row: nothing is where it was.
// CHECK: @stride: error: memgraph-slide: no row is in the run before: max_pool_2d (y) makes other rows of rows that slide by 2
func.func @stride(%x: tensor<1x9x1x1xi8>) -> tensor<1x3x1x1xi8> {
  %y = memgraph.max_pool_2d %x window<[3, 1], stride = [3, 1]> : (tensor<1x9x1x1xi8>) -> tensor<1x3x1x1xi8>
  func.return %y : tensor<1x3x1x1xi8>
}
// -----
// CHECK: @short: error: memgraph-slide: x has 2 rows, so no two runs have one in common
func.func @short(%x: tensor<1x2x1x1xi8>) -> tensor<1x2x1x1xi8> {
  %y = memgraph.relu %x : (tensor<1x2x1x1xi8>) -> tensor<1x2x1x1xi8>
  func.return %y : tensor<1x2x1x1xi8>
}
// -----
// CHECK: @several: error: memgraph-expand-rows{stream-input}: one input is streamed, the function has x, z
func.func @several(%x: tensor<1x8x1x1xi8>, %z: tensor<1x8x1x1xi8>) -> tensor<1x8x1x1xi8> {
  %y = memgraph.add %x, %z : (tensor<1x8x1x1xi8>, tensor<1x8x1x1xi8>) -> tensor<1x8x1x1xi8>
  func.return %y : tensor<1x8x1x1xi8>
}
// -----
// CHECK: @vector: error: memgraph-expand-rows{stream-input}: x, 8, has no rows
func.func @vector(%x: tensor<8xi8>) -> tensor<8xi8> {
  %y = memgraph.relu %x : (tensor<8xi8>) -> tensor<8xi8>
  func.return %y : tensor<8xi8>
}
// -----
// What is new is made of new rows alone.
// CHECK: @last: error: memgraph-slide: nothing reads a row of the run before
func.func @last(%x: tensor<1x8x1x1xi8>) -> tensor<1x1x1x1xi8> {
  %y = memgraph.relu %x : (tensor<1x8x1x1xi8>) -> tensor<1x8x1x1xi8>
  %z = memgraph.slice %y starts [0, 7, 0, 0] strides [1, 1, 1, 1] : (tensor<1x8x1x1xi8>) -> tensor<1x1x1x1xi8>
  func.return %z : tensor<1x1x1x1xi8>
}
