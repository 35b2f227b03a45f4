// RUN: not memopt-opt --split-input-file --state=h:h_next %s 2>&1 | filecheck %s
// RUN: not memopt-opt --state=h %s 2>&1 | filecheck %s --check-prefix=FORM
// FORM: --state=h: expected INPUT:OUTPUT, such as h:h_next

// CHECK: @input: error: --state=h:h_next: 'h' is no input; there are: x
!t = tensor<1x4xf32>
func.func @input(%x: !t) -> (!t, !t) {
  %0 = memgraph.relu %x {memgraph.names = ["h_next"]} : (!t) -> !t
  func.return %0, %x : !t, !t
}

// -----
// CHECK: @output: error: --state=h:h_next: 'h_next' is no output (did you mean h_nex?); there are: h_nex, x
!t = tensor<1x4xf32>
func.func @output(%x: !t, %h: !t) -> (!t, !t) {
  %0 = memgraph.add %x, %h {memgraph.names = ["h_nex"]} : (!t, !t) -> !t
  func.return %0, %x : !t, !t
}

// -----
// CHECK: @type: error: --state=h:h_next: the input h is 1x4 of f32, but the output h_next is 1x4 of i32
!t = tensor<1x4xf32>
!i = tensor<1x4xi32>
func.func @type(%x: !i, %h: !t) -> (!t, !i) {
  %0 = memgraph.relu %x {memgraph.names = ["h_next"]} : (!i) -> !i
  func.return %h, %0 : !t, !i
}

// -----
// CHECK: @nothing: error: --state=h:h_next: nothing is left to return
!t = tensor<1x4xf32>
func.func @nothing(%x: !t, %h: !t) -> !t {
  %0 = memgraph.add %x, %h {memgraph.names = ["h_next"]} : (!t, !t) -> !t
  func.return %0 : !t
}
