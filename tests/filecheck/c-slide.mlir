// RUN: memopt-opt --model=target=host,alignment=4,inplace=on --slide=2 --schedule=auto --place=auto --verify-plan -t c{name=net} -o %t.c %s
// RUN: filecheck %s < %t.c
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -O2 -c %t.c -o %t.o
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -DMEMOPT_TRACE -c %t.c -o %t.o

// Two of eight rows are pushed for each window; two of x and four of y stay in the state. A call is
// to move rows above the operators, and above that to receive one.
!x = tensor<1x8x1x2xf32, #memgraph.encoding<nhwc>>
!y = tensor<1x6x1x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x3x1x2xf32, #memgraph.encoding<ohwi>>
// CHECK: #define NET_ROWS 8 /* of a window of input 0 */
// CHECK-NEXT: #define NET_NEW_ROWS 2u
// CHECK-NEXT: #define NET_FIRST_WINDOW 4
// CHECK-NEXT: #define NET_FIRST_ROWS 8u
// CHECK-NEXT: #define NET_ROW_BYTES 8u
// CHECK-NEXT: #define NET_KEPT_BYTES 48u
// CHECK-NOT: NET_INPUT_0_OFFSET
// CHECK: uint8_t bytes[NET_KEPT_BYTES];
// CHECK-NEXT: int32_t alignment;
// CHECK-NEXT: } kept;
// CHECK: int32_t windows;
// CHECK-NEXT: int16_t next[3];
// CHECK-NEXT: } net_state;
// CHECK: int net_start(net_state *state, uint8_t *arena, float *output_0);
// CHECK: int net_push_row(net_state *state, const float *row);
// CHECK: float *net_row_place(net_state *state);
// CHECK-NOT: net_run(
// CHECK: static const row_number op0_rows[2] = {
// CHECK-NEXT: 4, 5,
// CHECK: enum { MOVE = 2, RECEIVE = 3 };
// CHECK: static const row_move moves[5] = {
// CHECK: const int32_t row = o->rows[next[calls[call]]++];
func.func @main(%x: !x) -> tensor<1x2xf32> {
  %w = memgraph.constant dense<0.5> : !w
  %y = memgraph.conv_2d %x, %w window<[3, 1]> groups 1 : (!x, !w) -> !y
  %m = memgraph.mean %y axes [1, 2] : (!y) -> tensor<1x2xf32>
  func.return %m : tensor<1x2xf32>
}
