// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows,memgraph-schedule,memgraph-place" -t svg %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows,memgraph-schedule,memgraph-place" -t html %s | filecheck %s --check-prefix=PAGE
// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows{stream-input=true},memgraph-schedule,memgraph-place" -t svg %s | filecheck %s --check-prefix=STREAM
// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-schedule,memgraph-place" -t svg %s | filecheck %s --check-prefix=WHOLE

// A tensor in rows is one band of one colour, each row with what it is, and its name once.
// CHECK: <title>window: arena 72 B, peak 68 B, optimal over all orders of these rows (flow)</title>
// CHECK: <g class="b rows input" data-b="t0"><title>camera
// CHECK-NEXT: 3 rows of 16 B, at most 3 at once
// CHECK-NEXT: steps 0 to 3
// CHECK: <rect {{.*}}><title>camera: row 0
// CHECK-NEXT: 16 B, address 0 to 16
// CHECK-NEXT: steps 0 to 2</title></rect>
// CHECK: <text {{.*}}>in camera</text>
// CHECK-NEXT: </g>
// CHECK-NEXT: <g class="b rows activation h0" data-b="t1" data-o="0"><title>largest
// CHECK-NEXT: 3 rows of 16 B, at most 2 at once
// CHECK: <title>largest: row 2
// CHECK-NEXT: 16 B, address 0 to 16
// CHECK-NEXT: steps 3 to 5</title></rect>
// CHECK-NEXT: <text {{.*}}>0 largest</text>
// CHECK-NEXT: </g>
// CHECK-NEXT: <g class="b rows output" data-b="t2" data-o="1"><title>average
// CHECK: >1 average</text>

// Below, when each operator is called.
// CHECK: >calls</text><g class="calls"
// CHECK-NEXT: <title>0 max_pool_2d largest
// CHECK-NEXT: 3 calls, steps 0 to 3</title>
// CHECK: <title>1 average_pool_2d average
// CHECK: peak at step 1: row 0 of 1 (average_pool_2d) and 2 more

// One line per operator.
// PAGE: No order of these rows has a smaller peak (proof: flow).
// PAGE: <b class="">2</b><span>operators, 6 calls, 9 buffers
// PAGE: <tbody><tr class="p" data-o="0"><td>0 (max_pool_2d){{.*}}<td class="n">3</td><td class="n">0 to 3</td><td class="n">2 of 3</td><td class="n">32</td>
// PAGE-NEXT: <tr class="p" data-o="1"><td>1 (average_pool_2d){{.*}}<td class="n">3</td><td class="n">1 to 5</td><td class="n">3 of 3</td><td class="n">12</td>
// PAGE-NEXT: </tbody>

// STREAM: <g class="b rows input" data-b="t0" data-o="0"><title>camera
// STREAM: <title>in receive camera
// STREAM-NEXT: 3 calls

// WHOLE-NOT: class="b rows
// WHOLE-NOT: >calls<
// WHOLE: <title>largest
!t = tensor<1x3x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!u = tensor<1x3x1x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
func.func @window(%x: !t {memgraph.name = "camera"}) -> !u {
  %y = memgraph.max_pool_2d %x window<[3, 3], pad = [1, 1, 1, 1]> {memgraph.names = ["largest"]}
      : (!t) -> !t
  %z = memgraph.average_pool_2d %y window<[1, 4]> {memgraph.names = ["average"]} : (!t) -> !u
  func.return %z : !u
}
