// What cannot be planned is refused by name, with its place; no plan is made.
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=source %s

func.func @dynamic(%x: tensor<4xi8>) {
  // expected-error@+1 {{tensor<?x4xi8> has a dynamic dimension; fix it with --shape}}
  %0 = memgraph.opaque "A"(%x) : (tensor<4xi8>) -> tensor<?x4xi8>
  func.return
}
// -----
// expected-error@unknown {{tensor<?xi8> has a dynamic dimension; fix it with --shape}}
func.func @dynamic_argument(%x: tensor<?xi8>) {
  func.return
}
// -----
func.func @overflow(%x: tensor<4xi8>) {
  // expected-error@+1 {{which overflows 64-bit sizes}}
  %0 = memgraph.opaque "A"(%x) : (tensor<4xi8>) -> tensor<9223372036854775807x9223372036854775807xi8>
  func.return
}
// -----
func.func @no_size(%x: tensor<4xi8>) {
  // expected-error@+1 {{element type none has no size in bytes}}
  %0 = memgraph.opaque "A"(%x) : (tensor<4xi8>) -> tensor<4xnone>
  func.return
}
// -----
func.func @alias_list(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.alias must list #memgraph.alias per result}}
  %0 = memgraph.opaque "A"(%x) {memgraph.alias = [1]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @alias_count(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.alias must have one entry per result}}
  %0 = memgraph.opaque "A"(%x) {memgraph.alias = [[], []]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @alias_operand(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.alias names an operand that is not there}}
  %0 = memgraph.opaque "A"(%x) {memgraph.alias = [[#memgraph.alias<operand = 1, kind = view>]]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @alias_view_size(%x: tensor<4xi8>) {
  // expected-error@+1 {{8 B are no view of 4 B}}
  %0 = memgraph.opaque "A"(%x) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = view>]]} : (tensor<4xi8>) -> tensor<8xi8>
  func.return
}
// -----
func.func @alias_slice_leaves(%x: tensor<8xi8>) {
  // expected-error@+1 {{a slice of 4 B at 6 B leaves the 8 B of its operand}}
  %0 = memgraph.opaque "A"(%x) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 6>]]} : (tensor<8xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @alias_concat_leaves(%x: tensor<8xi8>) {
  // expected-error@+1 {{a slice of 12 B at -8 B leaves the 8 B of its operand}}
  %0 = memgraph.opaque "A"(%x) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = -8>]]} : (tensor<8xi8>) -> tensor<12xi8>
  func.return
}
// -----
func.func @alias_inplace_size(%x: tensor<4xi8>) {
  // expected-error@+1 {{8 B do not fit in place of 4 B}}
  %0 = memgraph.opaque "A"(%x) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<4xi8>) -> tensor<8xi8>
  func.return
}
// -----
func.func @alias_typed_view(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.relu is no view}}
  %0 = memgraph.relu %x {memgraph.alias = [[#memgraph.alias<operand = 0, kind = view>]]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @alias_typed_inplace(%x: tensor<2x2xi8>) {
  // expected-error@+1 {{memgraph.transpose cannot run in place}}
  %0 = memgraph.transpose %x permutation [1, 0] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<2x2xi8>) -> tensor<2x2xi8>
  func.return
}
// -----
func.func @alias_broadcast(%x: tensor<8x1xi8>, %y: tensor<1x8xi8>) {
  // expected-error@+1 {{64 B do not fit in place of 8 B}}
  %0 = memgraph.add %x, %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<8x1xi8>, tensor<1x8xi8>) -> tensor<8x8xi8>
  func.return
}
// -----
func.func @alias_typed_slice(%x: tensor<8xi8>) {
  // expected-error@+1 {{memgraph.slice lies at byte_offset 2, not 4}}
  %0 = memgraph.slice %x starts [2] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 4>]]} : (tensor<8xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @alias_strided_slice(%x: tensor<8xi8>) {
  // expected-error@+1 {{memgraph.slice is no contiguous slice}}
  %0 = memgraph.slice %x starts [0] strides [2] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>]]} : (tensor<8xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @alias_column(%x: tensor<4x4xi8>) {
  // expected-error@+1 {{memgraph.slice is no contiguous slice}}
  %0 = memgraph.slice %x starts [0, 1] strides [1, 1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 1>]]} : (tensor<4x4xi8>) -> tensor<4x2xi8>
  func.return
}
// -----
func.func @alias_typed_concat(%x: tensor<2x4xi8>, %y: tensor<2x4xi8>) {
  // expected-error@+1 {{memgraph.concat is no contiguous slice}}
  %0 = memgraph.concat %x, %y axis 1 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -8>]]} : (tensor<2x4xi8>, tensor<2x4xi8>) -> tensor<2x8xi8>
  func.return
}
// -----
func.func @alias_contradiction(%x: tensor<8xi8>) {
  // expected-error@+1 {{aliases contradict each other}}
  %0 = memgraph.opaque "A"(%x, %x) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = 4>]]} : (tensor<8xi8>, tensor<8xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @alias_constant() {
  %w = memgraph.constant dense<1> : tensor<4xi8>
  // expected-error@+1 {{aliases w, no buffer}}
  %0 = memgraph.opaque "A"(%w) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = view>]]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @inplace_constant(%x: tensor<4xi8>) {
  %w = memgraph.constant dense<1> : tensor<4xi8>
  // expected-error@+1 {{in place, but w is no buffer}}
  %0 = memgraph.opaque "A"(%w, %x) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @inplace_kept(%x: tensor<4xi8>) -> tensor<4xi8> attributes {memgraph.model = #memgraph.model<io = kept>} {
  // expected-error@+1 {{A#0 cannot take the place of x, which is kept or not in the arena}}
  %0 = memgraph.opaque "A"(%x) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return %0 : tensor<4xi8>
}
// -----
func.func @inplace_part(%x: tensor<8xi8>) -> tensor<8xi8> {
  %1 = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<4xi8>
  // expected-error@+1 {{in place, but its result is in a larger buffer}}
  %2 = memgraph.relu %1 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<4xi8>) -> tensor<4xi8>
  %3 = memgraph.opaque "B"(%1) : (tensor<4xi8>) -> tensor<4xi8>
  %4 = memgraph.concat %3, %2 axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -4>]]} : (tensor<4xi8>, tensor<4xi8>) -> tensor<8xi8>
  func.return %4 : tensor<8xi8>
}
// -----
func.func @inplace_misaligned(%x: tensor<8xi8>) attributes {memgraph.model = #memgraph.model<alignment = 16>} {
  %0 = memgraph.slice %x starts [4] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 4>]]} : (tensor<8xi8>) -> tensor<4xi8>
  // expected-error@unknown {{operator 'relu (relu#0)' in place: 'relu#0' does not lie 4 B into 'x'}}
  %1 = memgraph.relu %0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @inplace_leaves(%x: tensor<8xi8>) {
  %0 = memgraph.slice %x starts [4] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 4>]]} : (tensor<8xi8>) -> tensor<4xi8>
  // expected-error@+1 {{in place 4 B into x, which it leaves}}
  %1 = memgraph.opaque "A"(%0) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<4xi8>) -> tensor<4xi8>
  %2 = memgraph.opaque "B"(%x) : (tensor<8xi8>) -> tensor<6xi8>
  %3 = memgraph.concat %1, %2 axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -4>]]} : (tensor<4xi8>, tensor<6xi8>) -> tensor<10xi8>
  func.return
}
// -----
func.func @scratch_list(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.scratch must list #memgraph.scratch}}
  %0 = memgraph.opaque "A"(%x) {memgraph.scratch = [96]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @used_before_made(%x: tensor<4xi8>) {
  // expected-error@+1 {{B#0 is used before it is made}}
  %0 = memgraph.opaque "A"(%1) : (tensor<4xi8>) -> tensor<4xi8>
  %1 = memgraph.opaque "B"(%0) : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}
// -----
// expected-error@unknown {{a function of 2 blocks cannot be planned, only of one}}
func.func @blocks() {
  cf.br ^bb1
^bb1:
  func.return
}
// -----
func.func @overlap(%x: tensor<8xi8>) {
  %s = memgraph.slice %x starts [2] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 2>]]} : (tensor<8xi8>) -> tensor<4xi8>
  // expected-error@+1 {{x and a would lie over each other}}
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<4xi8>
  %c = memgraph.concat %s, %a axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -4>]]} : (tensor<4xi8>, tensor<4xi8>) -> tensor<8xi8>
  func.return
}
// -----
func.func @inplace_other_part(%x: tensor<8xi8>) {
  %s = memgraph.slice %x starts [0] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>]]} : (tensor<8xi8>) -> tensor<1xi8>
  // expected-error@+1 {{in place of x, of which another part is read too}}
  %a = memgraph.add %x, %s {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<8xi8>, tensor<1xi8>) -> tensor<8xi8>
  func.return
}
// -----
func.func @view_of_one_operand(%x: tensor<8xi8>, %y: tensor<8xi8>) {
  // expected-error@+1 {{it executes, so its results are no views of its operands}}
  %a = memgraph.opaque "A"(%x, %y) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = view>]]} : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  func.return
}
// -----
func.func @in_place_in_tflm(%x: tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>, %w: tensor<1x3x3x2xf32, #memgraph.encoding<ihwo>>) -> tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>> attributes {memgraph.model = #memgraph.model<target = tflm>} {
  // expected-error@+1 {{in_place, as no kernel of TensorFlow Lite Micro is}}
  %0 = memgraph.depthwise_conv_2d %x, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 2 in_place : (tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>, tensor<1x3x3x2xf32, #memgraph.encoding<ihwo>>) -> tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
  func.return %0 : tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
}
// -----
func.func @in_place_without_scratch(%x: tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>, %w: tensor<1x3x3x2xf32, #memgraph.encoding<ihwo>>) -> tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>> {
  // expected-error@+1 {{in_place, with less scratch than 48 B}}
  %0 = memgraph.depthwise_conv_2d %x, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 2 in_place {memgraph.scratch = [#memgraph.scratch<4>]} : (tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>, tensor<1x3x3x2xf32, #memgraph.encoding<ihwo>>) -> tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
  func.return %0 : tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
}
