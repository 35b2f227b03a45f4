// Operators whose kernels are faster with scratch get some: where there is room in the arena, in RAM
// that is a little more, or all of them, and then order and places are found again.
// RUN: memopt-opt %s --model=target=cortex-m4 --schedule=source --place=auto -o %t.placed.mlir
// RUN: memopt-opt %t.placed.mlir --optimize=ram --verify-plan | filecheck %s --check-prefixes=CHECK,RAM
// RUN: memopt-opt %t.placed.mlir --optimize=balanced --schedule=auto --place=joint --verify-plan | filecheck %s --check-prefixes=CHECK,SPEED
// RUN: memopt-opt %t.placed.mlir -p "memgraph-kernels{optimize=balanced at-most=208},memgraph-schedule{method=auto},memgraph-place{method=joint},memgraph-verify-plan" | filecheck %s --check-prefixes=CHECK,NARROW
// RUN: memopt-opt %t.placed.mlir -p "memgraph-kernels{optimize=balanced at-most=192}" | filecheck %s --check-prefixes=CHECK,RAM
// RUN: memopt-opt %t.placed.mlir --optimize=speed --schedule=auto --place=joint --verify-plan | filecheck %s --check-prefixes=CHECK,SPEED
// RUN: memopt-opt %t.placed.mlir --optimize=speed | filecheck %s --check-prefix=DROPPED

// What is written is found again, and asking once more changes nothing.
// RUN: memopt-opt %t.placed.mlir --optimize=ram -o %t.once.mlir
// RUN: memopt-opt %t.once.mlir --optimize=ram -o %t.twice.mlir
// RUN: cmp %t.once.mlir %t.twice.mlir

// Another target's kernels are others.
// RUN: memopt-opt %t.once.mlir --model=target=host --schedule=source --place=auto | filecheck %s --check-prefix=HOST

// RUN: not memopt-opt %s --optimize=ram 2>&1 | filecheck %s --check-prefix=NONE
// NONE: error: memgraph-kernels: @main: no places in one arena; run --place first
// RUN: not memopt-opt %t.placed.mlir --optimize=all 2>&1 | filecheck %s --check-prefix=HOW
// HOW: memopt-opt: error: --optimize=all: ram, balanced or speed
// RUN: sed 's/memgraph.fast,/memgraph.fast = "quick",/' %t.once.mlir > %t.quick.mlir
// RUN: not memopt-opt %t.quick.mlir --schedule=source --place=auto -t c 2>&1 | filecheck %s --check-prefix=QUICK
// QUICK: error: {{.*}}memgraph.fast stands alone or is "narrow"

// CHECK-LABEL: @main
// RAM-SAME: peak = 192, {{.*}}arena = 192
// SPEED-SAME: peak = 224, {{.*}}arena = 224
// RAM: memgraph.conv_2d %x, {{.*}}memgraph.offset = [0 : i64], memgraph.fast = "narrow"}
// RAM: memgraph.conv_2d %a, {{.*}}memgraph.offset = [128 : i64], memgraph.fast = "narrow"}
// RAM: memgraph.conv_2d %b, {{.*}}memgraph.fast{{.*}}memgraph.scratch = [#memgraph.scratch<16, {{[0-9]+}}>]
// NARROW-SAME: peak = 208, {{.*}}arena = 208
// NARROW: memgraph.conv_2d %x, {{.*}}memgraph.fast, memgraph.scratch = [#memgraph.scratch<16,
// NARROW: memgraph.conv_2d %a, {{.*}}memgraph.fast = "narrow", memgraph.order
// NARROW: memgraph.conv_2d %b, {{.*}}memgraph.fast, memgraph.scratch = [#memgraph.scratch<16,
// SPEED-COUNT-3: memgraph.conv_2d {{.*}}memgraph.fast{{.*}}memgraph.scratch = [#memgraph.scratch<{{16|32}}, {{[0-9]+}}>]

// DROPPED-LABEL: @main
// DROPPED-NOT: memgraph.plan
// DROPPED-NOT: memgraph.offset
// DROPPED-COUNT-3: memgraph.fast

// HOST-LABEL: @main
// HOST-SAME: peak = 192, {{.*}}arena = 192
// HOST-NOT: memgraph.scratch =
!x = tensor<1x4x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!a = tensor<1x4x4x8xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!v = tensor<8x1x1x4xi8, #memgraph.encoding<ohwi, scale = [5.0e-01], zero_point = [0]>>
!w = tensor<4x1x1x8xi8, #memgraph.encoding<ohwi, scale = [5.0e-01], zero_point = [0]>>
!u = tensor<4x1x1x4xi8, #memgraph.encoding<ohwi, scale = [5.0e-01], zero_point = [0]>>
func.func @main(%x: !x) -> !x {
  %v = memgraph.constant dense<1> : !v
  %w = memgraph.constant dense<1> : !w
  %u = memgraph.constant dense<1> : !u
  %a = memgraph.conv_2d %x, %v window<[1, 1]> groups 1 rounding<tflm_double> : (!x, !v) -> !a
  %b = memgraph.conv_2d %a, %w window<[1, 1]> groups 1 rounding<tflm_double> : (!a, !w) -> !x
  %c = memgraph.conv_2d %b, %u window<[1, 1]> groups 1 rounding<tflm_double> : (!x, !u) -> !x
  func.return %c : !x
}
