// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=source --verify-plan %s

// The operations themselves.
func.func @nothing(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  // expected-error @below {{memgraph.state: rows are listed ascending, each once}}
  %s = memgraph.state %x rows [] shift 1 : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
func.func @twice(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  // expected-error @below {{memgraph.state: rows are listed ascending, each once}}
  %s = memgraph.state %x rows [1, 1] shift 1 : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
func.func @beyond(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  // expected-error @below {{memgraph.state: of 4 rows row 2 would be row 4 of the run before}}
  %s = memgraph.state %x rows [1, 2] shift 2 : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
func.func @no_rows(%x: tensor<8xi8>) -> tensor<8xi8> {
  // expected-error @below {{memgraph.state: the tensor has no rows}}
  %s = memgraph.state %x rows [0] shift 1 : tensor<8xi8>
  func.return %x : tensor<8xi8>
}
// -----
func.func @no_argument(%x: tensor<1x4x1x2xi8>) -> tensor<1x4x1x2xi8> {
  %y = memgraph.relu %x : (tensor<1x4x1x2xi8>) -> tensor<1x4x1x2xi8>
  // expected-error @below {{memgraph.state: rows are those of an argument or of an operator}}
  %s = memgraph.state %y rows [0] shift 1 : tensor<1x4x1x2xi8>
  func.return %y : tensor<1x4x1x2xi8>
}
// -----
func.func @no_result(%x: tensor<1x4x1x2xi8>) -> tensor<1x4x1x2xi8> {
  %f = memgraph.row_kernel (%a: tensor<1x4x1x2xi8>) {
    %y = memgraph.relu %a : (tensor<1x4x1x2xi8>) -> tensor<1x4x1x2xi8>
    memgraph.yield %y : tensor<1x4x1x2xi8>
  }
  // expected-error @below {{memgraph.state: the operator has no result 1}}
  %s = memgraph.state %f result 1 rows [0] shift 1 : !memgraph.operator
  func.return %x : tensor<1x4x1x2xi8>
}
// -----
func.func @of_a_sum(%x: tensor<1x4x1x2xf32>) -> tensor<1x4x1x2xf32> {
  %f = memgraph.row_kernel (%a: tensor<1x4x1x2xf32>) {
    %y = memgraph.mean %a axes [1, 2] : (tensor<1x4x1x2xf32>) -> tensor<1x2xf32>
    memgraph.yield %y : tensor<1x2xf32>
  }
  // expected-error @below {{memgraph.state: rows are those of an argument or of an operator}}
  %s = memgraph.state %f rows [0] shift 1 : !memgraph.operator
  func.return %x : tensor<1x4x1x2xf32>
}
// -----
func.func @another_row(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %s = memgraph.state %x rows [1, 2] shift 1 : tensor<1x4x1x2xi8>
  // expected-error @below {{memgraph.recall: the state has no row 0}}
  %x0 = memgraph.recall %s[0] : tensor<1x4x1x2xi8>
  func.return %x0 : tensor<1x1x1x2xi8>
}
// -----
func.func @another_type(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x3xi8> {
  %s = memgraph.state %x rows [1, 2] shift 1 : tensor<1x4x1x2xi8>
  // expected-error @below {{memgraph.recall: the value is no row of the state's tensor}}
  %x0 = memgraph.recall %s[1] : tensor<1x4x1x3xi8>
  func.return %x0 : tensor<1x1x1x3xi8>
}
// -----
func.func @of_itself(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %s = memgraph.state %x rows [1, 2] shift 1 : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  // expected-error @below {{memgraph.retain: row 1 comes of the state itself}}
  memgraph.retain %x3, %s[1] : tensor<1x4x1x2xi8>
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
func.func @slides_twice(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %s = memgraph.state %x rows [1, 2] shift 1 : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  // expected-error @below {{memgraph.slide: the state slides twice}}
  memgraph.slide %s
  memgraph.slide %s
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
// What only the verifier of a plan sees. A window of four rows slides by one; y is the greatest of
// two. This is right:
func.func @right(%x: tensor<1x4x1x2xi8>) -> tensor<1x3x1x2xi8> {
  %f = memgraph.row_kernel (%a: tensor<1x4x1x2xi8>) {
    %y = memgraph.max_pool_2d %a window<[2, 1]> : (tensor<1x4x1x2xi8>) -> tensor<1x3x1x2xi8>
    memgraph.yield %y : tensor<1x3x1x2xi8>
  }
  %s = memgraph.state %x rows [2] shift 1 : tensor<1x4x1x2xi8>
  %t = memgraph.state %f rows [0, 1] shift 1 : !memgraph.operator
  %y0 = memgraph.recall %t[0] : tensor<1x3x1x2xi8>
  %y1 = memgraph.recall %t[1] : tensor<1x3x1x2xi8>
  %x2 = memgraph.recall %s[2] : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  %y2 = memgraph.row %f[2] (%x2, %x3) : (tensor<1x1x1x2xi8>, tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi8>
  memgraph.slide %s
  memgraph.retain %x3, %s[2] : tensor<1x4x1x2xi8>
  memgraph.slide %t
  memgraph.retain %y2, %t[1] : tensor<1x3x1x2xi8>
  %y = memgraph.join %y0, %y1, %y2 : tensor<1x3x1x2xi8>
  func.return %y : tensor<1x3x1x2xi8>
}
// -----
func.func @no_slide(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  // expected-error @below {{s slides 0 times, not once}}
  %s = memgraph.state %x rows [2] shift 1 : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  memgraph.retain %x3, %s[2] : tensor<1x4x1x2xi8>
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
func.func @retained_first(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %s = memgraph.state %x rows [2] shift 1 : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  // expected-error @below {{row 2 of s is retained before it slides}}
  memgraph.retain %x3, %s[2] : tensor<1x4x1x2xi8>
  memgraph.slide %s
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
func.func @retained_never(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  // expected-error @below {{row 2 of s is retained 0 times, not 1}}
  %s = memgraph.state %x rows [2] shift 1 : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  memgraph.slide %s
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
func.func @retained_twice(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %s = memgraph.state %x rows [2] shift 1 : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  memgraph.slide %s
  memgraph.retain %x3, %s[2] : tensor<1x4x1x2xi8>
  // expected-error @below {{row 2 of s is retained 2 times, not 1}}
  memgraph.retain %x3, %s[2] : tensor<1x4x1x2xi8>
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
func.func @another_retained(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %s = memgraph.state %x rows [0] shift 2 : tensor<1x4x1x2xi8>
  %x2 = memgraph.receive %x[2] : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  memgraph.slide %s
  // expected-error @below {{x3 is not row 2, which is row 0 next}}
  memgraph.retain %x3, %s[0] : tensor<1x4x1x2xi8>
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
func.func @wrong_shift(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  // expected-error @below {{row 1 of s is not row 3 of the run before}}
  %s = memgraph.state %x rows [1] shift 2 : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  memgraph.slide %s
  memgraph.retain %x3, %s[1] : tensor<1x4x1x2xi8>
  func.return %x3 : tensor<1x1x1x2xi8>
}
// -----
// The first row of y has one tap in the padding, so it is no row of the run before.
func.func @not_alike(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %f = memgraph.row_kernel (%a: tensor<1x4x1x2xi8>) {
    %y = memgraph.max_pool_2d %a window<[2, 1], pad = [1, 0, 0, 0]> : (tensor<1x4x1x2xi8>) -> tensor<1x4x1x2xi8>
    memgraph.yield %y : tensor<1x4x1x2xi8>
  }
  %s = memgraph.state %x rows [2] shift 1 : tensor<1x4x1x2xi8>
  // expected-error @below {{row 0 of t is not row 1 of the run before}}
  %t = memgraph.state %f rows [0, 1, 2] shift 1 : !memgraph.operator
  %x2 = memgraph.recall %s[2] : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  %y3 = memgraph.row %f[3] (%x2, %x3) : (tensor<1x1x1x2xi8>, tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi8>
  memgraph.slide %s
  memgraph.retain %x3, %s[2] : tensor<1x4x1x2xi8>
  memgraph.slide %t
  memgraph.retain %y3, %t[2] : tensor<1x4x1x2xi8>
  func.return %y3 : tensor<1x1x1x2xi8>
}
// -----
// The window slides by one row, and y by two of its own.
func.func @too_far(%x: tensor<1x5x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %f = memgraph.row_kernel (%a: tensor<1x5x1x2xi8>) {
    %y = memgraph.relu %a : (tensor<1x5x1x2xi8>) -> tensor<1x5x1x2xi8>
    memgraph.yield %y : tensor<1x5x1x2xi8>
  }
  // expected-error @below {{row 2 of t is not row 4 of the run before}}
  %t = memgraph.state %f rows [2] shift 2 : !memgraph.operator
  %x4 = memgraph.receive %x[4] : tensor<1x5x1x2xi8>
  %y4 = memgraph.row %f[4] (%x4) : (tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi8>
  memgraph.slide %t
  memgraph.retain %y4, %t[2] : tensor<1x5x1x2xi8>
  func.return %y4 : tensor<1x1x1x2xi8>
}
// -----
// A row that is recalled in place of another.
func.func @another_recalled(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %f = memgraph.row_kernel (%a: tensor<1x4x1x2xi8>) {
    %y = memgraph.max_pool_2d %a window<[2, 1]> : (tensor<1x4x1x2xi8>) -> tensor<1x3x1x2xi8>
    memgraph.yield %y : tensor<1x3x1x2xi8>
  }
  %s = memgraph.state %x rows [1, 2] shift 1 : tensor<1x4x1x2xi8>
  %x1 = memgraph.recall %s[1] : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  // expected-error @below {{x1 is not row 2 of operand 0 of memgraph.max_pool_2d}}
  %y2 = memgraph.row %f[2] (%x1, %x3) : (tensor<1x1x1x2xi8>, tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi8>
  memgraph.slide %s
  memgraph.retain %x3, %s[2] : tensor<1x4x1x2xi8>
  func.return %y2 : tensor<1x1x1x2xi8>
}
// -----
// The last rows are received, all of them.
func.func @not_the_last(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %s = memgraph.state %x rows [1] shift 1 : tensor<1x4x1x2xi8>
  // expected-error @below {{3 rows of x are received, not all 4}}
  %x2 = memgraph.receive %x[2] : tensor<1x4x1x2xi8>
  memgraph.slide %s
  memgraph.retain %x2, %s[1] : tensor<1x4x1x2xi8>
  func.return %x2 : tensor<1x1x1x2xi8>
}
// -----
// A sum needs all of its rows.
func.func @part_missing(%x: tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %s = memgraph.state %x rows [2] shift 1 : tensor<1x4x1x2xi8>
  %f = memgraph.row_kernel (%a: tensor<1x4x1x2xi8>) {
    %y = memgraph.max_pool_2d %a window<[4, 1]> : (tensor<1x4x1x2xi8>) -> tensor<1x1x1x2xi8>
    memgraph.yield %y : tensor<1x1x1x2xi8>
  }
  %x2 = memgraph.recall %s[2] : tensor<1x4x1x2xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x1x2xi8>
  %z = memgraph.opaque "zero"() : () -> tensor<1x1x1x2xi8>
  // expected-error @below {{row 2 of memgraph.max_pool_2d does not take the sum of the rows before}}
  %y2 = memgraph.row %f[2] (%x2, %z) : (tensor<1x1x1x2xi8>, tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi8>
  memgraph.slide %s
  memgraph.retain %x3, %s[2] : tensor<1x4x1x2xi8>
  func.return %y2 : tensor<1x1x1x2xi8>
}
