// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-expand-rows{stream-input=true},memgraph-schedule,memgraph-place,memgraph-verify-plan" -t c{name=net} -o %t.c %s
// RUN: filecheck %s < %t.c
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -O2 -c %t.c -o %t.o
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -DMEMOPT_TRACE -c %t.c -o %t.o
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 io=caller},memgraph-expand-rows{stream-input=true},memgraph-schedule{method=source},memgraph-place,memgraph-verify-plan" -t c{name=net} -o %t.caller.c %s
// RUN: filecheck %s --check-prefix=CALLER < %t.caller.c
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -O2 -c %t.caller.c -o %t.o

// A call is to receive a row, above the operators; the run stops there until one is pushed.
!t = tensor<1x3x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!m = tensor<1x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
!s = tensor<1x4xi8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>>
// CHECK: #define NET_ROWS 3
// CHECK-NEXT: #define NET_ROW_BYTES 16u
// CHECK-NOT: NET_INPUT_0_OFFSET
// CHECK: net_start, then net_push_row 3 times. A row is 16 bytes, int8_t [4][4].
// CHECK: int16_t next[3];
// CHECK-NEXT: } net_state;
// CHECK: int net_start(net_state *state, uint8_t *arena, int8_t *output_0);
// CHECK: int net_push_row(net_state *state, const int8_t *row);
// CHECK: int8_t *net_row_place(const net_state *state);
// CHECK: typedef int net_read_row(void *context, int32_t number, int8_t *row);
// CHECK: int net_run(uint8_t *arena, net_read_row *read_row, void *context, int8_t *output_0);
// CHECK: static const uint8_t calls[12] = {
// CHECK-NEXT: live at most
// CHECK-NEXT: 3, 3, 0,
// CHECK: enum { RECEIVE = 3 };
// CHECK: static const row_place received_at[3] = {
// CHECK: static int32_t run_rows(uint8_t *memory, row_number *next, int32_t from, int32_t to) {
// CHECK: for (call = from; call < to && calls[call] != RECEIVE; ++call) {
// CHECK: static int go_on(net_state *state) {
// CHECK: state->call = run_rows(memory, state->next, state->call, 12);
// CHECK-NEXT: if (state->call < 12) {
// CHECK-NEXT: return 0;
// CHECK: memopt_softmax_s8(&op3_params, &op3_rows, in,
// CHECK: return 1;
// CALLER: int net_start(net_state *state, uint8_t *arena, int8_t *output_0) {
// CALLER: if (output_0 == NULL) {
// CALLER-NEXT: return 2;
func.func @main(%x: !t) -> !s {
  %y = memgraph.max_pool_2d %x window<[3, 3], pad = [1, 1, 1, 1]> : (!t) -> !t
  %z = memgraph.add %y, %x rounding<tflm_double> : (!t, !t) -> !t
  %m = memgraph.mean %z axes [1, 2] rounding<tflm_double> : (!t) -> !m
  %s = memgraph.softmax %m axis 1 beta 1.0 : (!m) -> !s
  func.return %s : !s
}
