// What has no bytes conflicts with nothing, wherever it lies.
// RUN: memopt-opt --split-input-file --schedule=auto --place=auto --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --fuse --schedule=auto --place=joint --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --schedule=source --place=shared-objects --verify-plan %s | filecheck %s --check-prefix=RUNS
// RUN: memopt-opt --split-input-file --schedule=source --memory=a:48@1,b:64@2 --verify-plan %s | filecheck %s --check-prefix=RUNS

// A part of no bytes between two others lies at their border, or anywhere.
// CHECK-LABEL: @main
// CHECK-SAME: arena = 32, arena_lower_bound = 32
// RUNS-LABEL: @main
func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<4xi8>
  %z = memgraph.opaque "Z"(%x) : (tensor<8xi8>) -> tensor<0xi8>
  %b = memgraph.opaque "B"(%x) : (tensor<8xi8>) -> tensor<4xi8>
  %y = memgraph.concat %a, %z, %b axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -4>, #memgraph.alias<operand = 2, kind = slice, byte_offset = -4>]]} : (tensor<4xi8>, tensor<0xi8>, tensor<4xi8>) -> tensor<8xi8>
  func.return %y : tensor<8xi8>
}

// -----

// Two of them, one at the start.
// CHECK-LABEL: @two
// CHECK-SAME: arena = 32, arena_lower_bound = 32
// RUNS-LABEL: @two
func.func @two(%x: tensor<8xi8>) -> tensor<8xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<4xi8>
  %z = memgraph.opaque "Z"(%x) : (tensor<8xi8>) -> tensor<0xi8>
  %w = memgraph.opaque "Z"(%x) : (tensor<8xi8>) -> tensor<0xi8>
  %b = memgraph.opaque "B"(%x) : (tensor<8xi8>) -> tensor<4xi8>
  %y = memgraph.concat %z, %a, %w, %b axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice>, #memgraph.alias<operand = 2, kind = slice, byte_offset = -4>, #memgraph.alias<operand = 3, kind = slice, byte_offset = -4>]]} : (tensor<0xi8>, tensor<4xi8>, tensor<0xi8>, tensor<4xi8>) -> tensor<8xi8>
  func.return %y : tensor<8xi8>
}

// -----

// One of the caller's: the concat still needs no copy.
// CHECK-LABEL: @caller
// CHECK-SAME: arena = 0, arena_lower_bound = 0
// RUNS-LABEL: @caller
func.func @caller(%x: tensor<8xi8>, %z: tensor<0xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<alignment = 1, io = caller>} {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<8xi8>
  %y = memgraph.concat %a, %z axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -8>]]} : (tensor<8xi8>, tensor<0xi8>) -> tensor<8xi8>
  func.return %y : tensor<8xi8>
}

// -----

// The same one twice, at two ends.
// CHECK-LABEL: @same
// CHECK-SAME: arena = 16, arena_lower_bound = 16
// RUNS-LABEL: @same
func.func @same(%x: tensor<8xi8>, %z: tensor<0xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<8xi8>
  %y = memgraph.concat %a, %z, %z axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -8>, #memgraph.alias<operand = 2, kind = slice, byte_offset = -8>]]} : (tensor<8xi8>, tensor<0xi8>, tensor<0xi8>) -> tensor<8xi8>
  func.return %y : tensor<8xi8>
}

// -----

// Inside a part that has bytes.
// CHECK-LABEL: @inside
// CHECK-SAME: arena = 8, arena_lower_bound = 8
// RUNS-LABEL: @inside
func.func @inside(%x: tensor<8xi8>, %z: tensor<0xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %y = memgraph.opaque "C"(%x, %z) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -3>]]} : (tensor<8xi8>, tensor<0xi8>) -> tensor<8xi8>
  func.return %y : tensor<8xi8>
}

// -----

// One in two concats does not tie them together.
// CHECK-LABEL: @twice
// CHECK-SAME: arena = 25, arena_lower_bound = 25
// RUNS-LABEL: @twice
func.func @twice(%x: tensor<8xi8>) -> (tensor<8xi8>, tensor<9xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %z = memgraph.opaque "Z"(%x) : (tensor<8xi8>) -> tensor<0xi8>
  %a = memgraph.opaque "Z"(%x) : (tensor<8xi8>) -> tensor<8xi8>
  %b = memgraph.opaque "Z"(%x) : (tensor<8xi8>) -> tensor<9xi8>
  %y = memgraph.concat %a, %z axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -8>]]} : (tensor<8xi8>, tensor<0xi8>) -> tensor<8xi8>
  %y2 = memgraph.concat %b, %z axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -9>]]} : (tensor<9xi8>, tensor<0xi8>) -> tensor<9xi8>
  func.return %y, %y2 : tensor<8xi8>, tensor<9xi8>
}
