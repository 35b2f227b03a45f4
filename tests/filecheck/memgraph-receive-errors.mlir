// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=source --verify-plan %s

// The operation itself.
func.func @no_argument(%x: tensor<1x3x4x4xi8>) -> tensor<1x1x4x4xi8> {
  %y = memgraph.relu %x : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8>
  // expected-error @below {{memgraph.receive: the operand must be an argument of the function}}
  %z = memgraph.receive %y[0] : tensor<1x3x4x4xi8>
  func.return %z : tensor<1x1x4x4xi8>
}
// -----
func.func @no_row(%x: tensor<1x3x4x4xi8>) -> tensor<1x1x4x4xi8> {
  // expected-error @below {{memgraph.receive: the argument has 3 rows, no row 3}}
  %z = memgraph.receive %x[3] : tensor<1x3x4x4xi8>
  func.return %z : tensor<1x1x4x4xi8>
}
// -----
func.func @batch(%x: tensor<2x3x4x4xi8>) -> tensor<2x1x4x4xi8> {
  // expected-error @below {{memgraph.receive: the argument has no rows}}
  %z = memgraph.receive %x[0] : tensor<2x3x4x4xi8>
  func.return %z : tensor<2x1x4x4xi8>
}
// -----
func.func @another_type(%x: tensor<1x3x4x4xi8>) -> tensor<1x1x4x5xi8> {
  // expected-error @below {{memgraph.receive: the result must be a row of the argument}}
  %z = "memgraph.receive"(%x) <{index = #builtin.int<0>}> : (tensor<1x3x4x4xi8>) -> tensor<1x1x4x5xi8>
  func.return %z : tensor<1x1x4x5xi8>
}
// -----
func.func @whole_too(%x: tensor<1x1x4x4xi8>) -> (tensor<1x1x4x4xi8>, tensor<1x1x4x4xi8>) {
  // expected-error @below {{memgraph.receive: the argument is read as a whole too}}
  %z = memgraph.receive %x[0] : tensor<1x1x4x4xi8>
  func.return %x, %z : tensor<1x1x4x4xi8>, tensor<1x1x4x4xi8>
}
// -----
func.func @whole_before(%x: tensor<1x1x4x4xi8>) -> (tensor<1x1x4x4xi8>, tensor<1x1x4x4xi8>) {
  %y = memgraph.relu %x : (tensor<1x1x4x4xi8>) -> tensor<1x1x4x4xi8>
  // expected-error @below {{memgraph.receive: the argument is read as a whole too}}
  %z = memgraph.receive %x[0] : tensor<1x1x4x4xi8>
  func.return %y, %z : tensor<1x1x4x4xi8>, tensor<1x1x4x4xi8>
}
// -----
// What only the verifier of a plan sees: the order and the number of rows.
func.func @twice(%x: tensor<1x2x4x4xi8>) -> (tensor<1x1x4x4xi8>, tensor<1x1x4x4xi8>) {
  %x0 = memgraph.receive %x[0] : tensor<1x2x4x4xi8>
  // expected-error @below {{row 0 of x is received where row 1 arrives}}
  %x1 = memgraph.receive %x[0] : tensor<1x2x4x4xi8>
  func.return %x0, %x1 : tensor<1x1x4x4xi8>, tensor<1x1x4x4xi8>
}
// -----
func.func @too_few(%x: tensor<1x2x4x4xi8>) -> tensor<1x1x4x4xi8> {
  // expected-error @below {{1 rows of x are received, not all 2}}
  %x0 = memgraph.receive %x[0] : tensor<1x2x4x4xi8>
  func.return %x0 : tensor<1x1x4x4xi8>
}
