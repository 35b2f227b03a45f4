// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan" -t c -o %t.c %s
// RUN: filecheck %s < %t.c
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -O2 -c %t.c -o %t.o
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -DMEMOPT_TRACE -c %t.c -o %t.o
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 io=caller},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan" -t c -o %t.caller.c %s
// RUN: filecheck %s --check-prefix=CALLER < %t.caller.c
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -O2 -c %t.caller.c -o %t.o

// One entry per operator, a byte per call, two bytes per row, in units of 4 B; a whole operator
// between them is called as ever.
!t = tensor<1x3x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!m = tensor<1x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
!s = tensor<1x4xi8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>>
// CHECK: typedef uint16_t row_place;
// CHECK: static const row_place op0_out_at[3] = {
// CHECK: static const memopt_mean_s8_params
// CHECK-NEXT: .count = 12,
// CHECK: .parts = 3,
// CHECK: static const row_operator operators[3] = {
// CHECK-NEXT: /* MAX_POOL_2D y */
// CHECK-NEXT: {memopt_max_pool_2d_s8, &op0_params, {op0_in_at_0}, op0_out_at, 1, 1, 1, 3, 3, 1, 16, 16},
// CHECK-NEXT: /* ADD z */
// CHECK-NEXT: {memopt_sum_line_s8, &op1_params, {op0_out_at, op0_in_at_0}, op0_out_at, 2, 1, 0, 1, 3, 1, 16, 16},
// CHECK-NEXT: /* MEAN m */
// CHECK-NEXT: {memopt_mean_s8, &op2_params, {op0_out_at, op2_in_at_1}, op2_out_at, 2, 1, 0, 1, 3, 1, 48, 4},
// CHECK: static const uint8_t calls[9] = {
// CHECK-NEXT: /* live at most 80 B: x, y, z */
// CHECK-NEXT: 0, 1, 2, 0, 1, 2, 0, 1, 2,
// CHECK: for (call = from; call < to; ++call) {
// CHECK: row_number next[3] = {0};
// CHECK: run_rows(arena, next, 0, 9);
// CHECK: memopt_softmax_s8(&op3_params, &op3_rows, in,
// CALLER: from the start of the memory that its highest bits say
// CALLER: #define ROW_AT(place) ((void *)(memory[(place) >> 15] + ((place) & 0x7fffu)
// CALLER: uint8_t *const memory[] = {(uint8_t *)input_0, (uint8_t *)arena};
// CALLER: run_rows(memory, next, 0, 9);
func.func @main(%x: !t) -> !s {
  %y = memgraph.max_pool_2d %x window<[3, 3], pad = [1, 1, 1, 1]> : (!t) -> !t
  %z = memgraph.add %y, %x rounding<tflm_double> : (!t, !t) -> !t
  %m = memgraph.mean %z axes [1, 2] rounding<tflm_double> : (!t) -> !m
  %s = memgraph.softmax %m axis 1 beta 1.0 : (!m) -> !s
  func.return %s : !s
}
