// What is written in place stays so, with in place on too, and through a second schedule.
// RUN: memopt-opt --split-input-file --schedule=auto --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --fuse --schedule=auto --place=joint --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --schedule=auto --place=auto %s | memopt-opt --split-input-file --model=alignment=2 --model=alignment=1 --prepare=view --schedule=auto --verify-plan | filecheck %s

// An alias that was written stays, whether the operation offers it or not.
// CHECK-LABEL: @written
// CHECK-SAME: peak = 10, lower_bound = 10, proof = flow
// CHECK: "op"(%x) {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 0 : i64
// CHECK: memgraph.relu %{{.*}} {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>]], memgraph.order = 1 : i64
func.func @written(%x: tensor<10xi8>) -> tensor<10xi8> attributes {memgraph.model = #memgraph.model<alignment = 1, inplace = on>} {
  %y = memgraph.opaque "op"(%x) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<10xi8>) -> tensor<10xi8>
  %z = memgraph.relu %y {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<10xi8>) -> tensor<10xi8>
  func.return %z : tensor<10xi8>
}
// -----
// It orders the operators: %s must be read before relu writes over it, though the plan without the
// alias needs no more.
// CHECK-LABEL: @orders
// CHECK-SAME: peak = 24, lower_bound = 24
// CHECK: "reads"
// CHECK: memgraph.relu
func.func @orders(%x: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1, inplace = on>} {
  %s = memgraph.opaque "makes"(%x) : (tensor<8xi8>) -> tensor<8xi8>
  %z = memgraph.relu %s {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<8xi8>) -> tensor<8xi8>
  %r = memgraph.opaque "reads"(%x, %s) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  func.return %z, %r : tensor<8xi8>, tensor<8xi8>
}

// -----
// What the scheduler chose is no such thing: with in place off it is gone.
// RUN: memopt-opt --split-input-file --schedule=auto %s | memopt-opt --split-input-file --model=inplace=off --schedule=auto --verify-plan | filecheck %s --check-prefix=OFF
// CHECK-LABEL: @chosen
// CHECK-SAME: peak = 20
// CHECK: memgraph.relu %{{.*}} {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>]], memgraph.chosen_inplace, memgraph.order = 1 : i64
// OFF-LABEL: @written
// OFF-SAME: peak = 10, lower_bound = 10
// OFF-LABEL: @chosen
// OFF-SAME: peak = 20
// OFF: memgraph.relu %{{.*}} {memgraph.order = 1 : i64
func.func @chosen(%x: tensor<10xi8>) -> tensor<10xi8> attributes {memgraph.model = #memgraph.model<alignment = 1, inplace = on>} {
  %y = memgraph.opaque "op"(%x) : (tensor<10xi8>) -> tensor<10xi8>
  %z = memgraph.relu %y : (tensor<10xi8>) -> tensor<10xi8>
  func.return %z : tensor<10xi8>
}

// -----
// A depthwise convolution in place: 8 B of its rows are kept beside the 32 B that it writes over.
// CHECK-LABEL: @depthwise
// CHECK-SAME: peak = 40, lower_bound = 40
// CHECK: memgraph.depthwise_conv_2d {{.*}} in_place {{{.*}}memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>]], memgraph.chosen_inplace
func.func @depthwise(%x: tensor<8xi8>) -> tensor<1x1x1x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>> attributes {memgraph.model = #memgraph.model<alignment = 1, inplace = on>} {
  %w = memgraph.constant dense<1> : tensor<1x2x2x2xi8, #memgraph.encoding<ihwo, scale = [1.0e+00], zero_point = [0]>>
  %y = memgraph.opaque "makes"(%x) : (tensor<8xi8>) -> tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>
  %z = memgraph.depthwise_conv_2d %y, %w window<[2, 2], pad = [1, 1, 0, 0]> groups 2 rounding<tflm_double> in_place : (tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>, tensor<1x2x2x2xi8, #memgraph.encoding<ihwo, scale = [1.0e+00], zero_point = [0]>>) -> tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>
  %r = memgraph.max_pool_2d %z window<[4, 4]> : (tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>) -> tensor<1x1x1x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>
  func.return %r : tensor<1x1x1x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>
}

// -----
// The last bytes of %y, which nobody reads otherwise: %r lies where they are, and needs none of its
// own. Over nothing it would take 14 B.
// CHECK-LABEL: @inside
// CHECK-SAME: peak = 11, lower_bound = 11
// CHECK: memgraph.relu %s {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>]], memgraph.chosen_inplace
func.func @inside(%x: tensor<1xi8>) -> tensor<4xi8> attributes {memgraph.model = #memgraph.model<alignment = 1, inplace = on>} {
  %y = memgraph.opaque "makes"(%x) : (tensor<1xi8>) -> tensor<10xi8>
  %s = memgraph.slice %y starts [6] strides [1] {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 6>]]} : (tensor<10xi8>) -> tensor<4xi8>
  %r = memgraph.relu %s : (tensor<4xi8>) -> tensor<4xi8>
  func.return %r : tensor<4xi8>
}

// -----
// A tensor and its reshaped form lie in one place: the operand of the result's shape is overwritten.
// CHECK-LABEL: @reshaped
// CHECK: memgraph.mul %v, %y {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 1, kind = inplace>]], memgraph.chosen_inplace
func.func @reshaped(%x: tensor<1x3xf32>) -> tensor<1x3xf32> attributes {memgraph.model = #memgraph.model<alignment = 1, inplace = on>} {
  %y = memgraph.opaque "makes"(%x) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %v = memgraph.reshape %y : (tensor<1x3xf32>) -> tensor<3xf32>
  %r = memgraph.mul %v, %y : (tensor<3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  func.return %r : tensor<1x3xf32>
}
// -----
// Which view copies is decided in the order of the source, and stays so in another order.
// CHECK-LABEL: @copies
// CHECK: memgraph.relu %r {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>]]
// CHECK: memgraph.concat %a, %c, %b axis 0 {memgraph.alias = {{\[\[\]\]}}, memgraph.order = 4 : i64
// CHECK-NEXT: memgraph.reshape %a
func.func @copies(%x: tensor<1xi8>) -> (tensor<1x22xi8>, tensor<45xi8>) attributes {memgraph.model = #memgraph.model<io = caller, inplace = on, alignment = 4>} {
  %a = memgraph.opaque "A"(%x) : (tensor<1xi8>) -> tensor<22xi8>
  %v = memgraph.reshape %a : (tensor<22xi8>) -> tensor<1x22xi8>
  %r = memgraph.opaque "R"(%x) : (tensor<1xi8>) -> tensor<1xi8>
  %b = memgraph.relu %r : (tensor<1xi8>) -> tensor<1xi8>
  %c = memgraph.opaque "C"(%x, %r) : (tensor<1xi8>, tensor<1xi8>) -> tensor<22xi8>
  %d = memgraph.concat %a, %c, %b axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -22>, #memgraph.alias<operand = 2, kind = slice, byte_offset = -44>]]} : (tensor<22xi8>, tensor<22xi8>, tensor<1xi8>) -> tensor<45xi8>
  func.return %v, %d : tensor<1x22xi8>, tensor<45xi8>
}
