// RUN: not memopt-opt --split-input-file --model=alignment=1,inplace=on --fit=64 %s 2>&1 | filecheck %s
// RUN: not memopt-opt --split-input-file -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows{fit=64 stream-input=true}" %s 2>&1 | filecheck %s --check-prefix=STREAM
// What would help is solved: another border, as far as there is one.

// CHECK: 64 B are 704 B too few: all operators in rows need 768 B, and no order of these rows needs less; with --stream-input they need 224 B; with --int8-io they need 256 B; with --stream-input and --int8-io they need 160 B
// STREAM: 64 B are 160 B too few: all operators in rows need 224 B, and no order of these rows needs less; with --int8-io they need 160 B
!f = tensor<1x6x8x4xf32>
!t = tensor<1x6x8x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
!u = tensor<1x1x8x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
func.func @real(%x: !f) -> !u {
  %q = memgraph.quantize %x : (!f) -> !t
  %a = memgraph.max_pool_2d %q window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
  %b = memgraph.max_pool_2d %a window<[6, 1]> : (!t) -> !u
  func.return %b : !u
}

// -----
// CHECK: with --stream-input they need 160 B
// CHECK-NOT: int8-io
!t = tensor<1x6x8x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
!u = tensor<1x1x8x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
func.func @stored(%x: !t) -> !u {
  %a = memgraph.max_pool_2d %x window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
  %b = memgraph.max_pool_2d %a window<[6, 1]> : (!t) -> !u
  func.return %b : !u
}
