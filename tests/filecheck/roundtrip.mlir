// Every operation, type and attribute prints to text that parses back to the same bytes, also
// through the generic form.
// RUN: %roundtrip

// CHECK: #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-128]>
!act = tensor<1x8x8x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [-128]>>

// CHECK-LABEL: @compute
func.func @compute(%x: !act, %y: !act) -> !act {
  // CHECK: memgraph.constant #memgraph.weights<"5f0c", "7"> : !w0
  %w = memgraph.constant #memgraph.weights<"5f0c", "7"> : tensor<4x3x3x4xi8, #memgraph.encoding<ohwi, scale = [1.0, 2.5e-01, 0.1, 3.0], zero_point = [0], axis = 0>>
  %v = memgraph.constant #memgraph.weights<"5f0c", "name with \"quotes\""> : tensor<1x3x3x4xi8, #memgraph.encoding<ihwo>>
  // CHECK: memgraph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = memgraph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK: memgraph.constant dense<7> : tensor<4xi32> {memgraph.names = ["splat"]}
  %s = memgraph.constant dense<7> : tensor<4xi32> {memgraph.names = ["splat"]}
  // CHECK: memgraph.conv_2d %{{.*}}, %{{.*}}, %{{.*}} window<[3, 3], pad = [1, 1, 1, 1]> groups 1 activation<relu> rounding<tflm_double> : (
  %0 = memgraph.conv_2d %x, %w, %b window<[3, 3], stride = [1, 1], pad = [1, 1, 1, 1]> groups 1 activation<relu> rounding<tflm_double> : (!act, tensor<4x3x3x4xi8, #memgraph.encoding<ohwi, scale = [1.0, 2.5e-01, 0.1, 3.0], zero_point = [0], axis = 0>>, tensor<4xi32>) -> !act
  // CHECK: memgraph.depthwise_conv_2d %{{.*}}, %{{.*}} window<[3, 3], dilation = [2, 2], pad = [2, 2, 2, 2]> groups 4 :
  %1 = memgraph.depthwise_conv_2d %0, %v window<[3, 3], dilation = [2, 2], pad = [2, 2, 2, 2]> groups 4 : (!act, tensor<1x3x3x4xi8, #memgraph.encoding<ihwo>>) -> !act
  // CHECK: memgraph.max_pool_2d %{{.*}} window<[2, 2], stride = [2, 2]> activation<relu6> :
  %2 = memgraph.max_pool_2d %1 window<[2, 2], stride = [2, 2]> activation<relu6> : (!act) -> tensor<1x4x4x4xi8, #memgraph.encoding<nhwc>>
  // CHECK: memgraph.average_pool_2d %{{.*}} window<[2, 2], stride = [2, 2]> count_include_pad :
  %3 = memgraph.average_pool_2d %1 window<[2, 2], stride = [2, 2]> count_include_pad : (!act) -> tensor<1x4x4x4xi8, #memgraph.encoding<nhwc>>
  // CHECK: memgraph.add %{{.*}}, %{{.*}} activation<relu_n1_to_1> rounding<tflite_single> :
  %4 = memgraph.add %0, %1 activation<relu_n1_to_1> rounding<tflite_single> : (!act, !act) -> !act
  // CHECK: memgraph.sub %{{.*}}, %{{.*}} activation<tanh> :
  %5 = memgraph.sub %4, %y activation<tanh> : (!act, !act) -> !act
  // CHECK: memgraph.mul %{{.*}}, %{{.*}} activation<sign_bit> rounding<onnx_even> :
  %6 = memgraph.mul %5, %y activation<sign_bit> rounding<onnx_even> : (!act, !act) -> !act
  // CHECK: memgraph.maximum %{{.*}}, %{{.*}} :
  %7 = memgraph.maximum %6, %y : (!act, !act) -> !act
  // CHECK: memgraph.minimum %{{.*}}, %{{.*}} :
  %8 = memgraph.minimum %7, %b : (!act, tensor<4xi32>) -> !act
  // CHECK: memgraph.relu %{{.*}} rounding<tflm_double> :
  %9 = memgraph.relu %8 rounding<tflm_double> : (!act) -> !act
  // CHECK: memgraph.relu6
  %10 = memgraph.relu6 %9 : (!act) -> !act
  // CHECK: memgraph.logistic
  %11 = memgraph.logistic %10 : (!act) -> !act
  // CHECK: memgraph.tanh
  %12 = memgraph.tanh %11 : (!act) -> !act
  // CHECK: memgraph.hard_swish
  %13 = memgraph.hard_swish %12 : (!act) -> !act
  // CHECK: memgraph.leaky_relu %{{.*}} alpha 2.500000e-01 :
  %14 = memgraph.leaky_relu %13 alpha 0.25 : (!act) -> !act
  // CHECK: memgraph.gelu %{{.*}} approximate :
  %gelu = memgraph.gelu %13 approximate : (!act) -> !act
  func.return %14 : !act
}
// CHECK: // -----
// -----

// CHECK-LABEL: @shapes
func.func @shapes(%x: tensor<2x6xf32>, %i: tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>) -> (tensor<6x2xf32>, tensor<2x1xf32>) {
  %w = memgraph.constant #memgraph.weights<"ab", "w"> : tensor<3x6xf32>
  // CHECK: memgraph.quantize %{{.*}} rounding<onnx_even> : (tensor<2x6xf32>) -> !a{{[0-9]+}}
  %q = memgraph.quantize %x rounding<onnx_even> : (tensor<2x6xf32>) -> tensor<2x6xi8, #memgraph.encoding<scale = [1.0e-03], zero_point = [3]>>
  // CHECK: memgraph.dequantize
  %d = memgraph.dequantize %q : (tensor<2x6xi8, #memgraph.encoding<scale = [1.0e-03], zero_point = [3]>>) -> tensor<2x6xf32>
  // CHECK: memgraph.cast %{{.*}} : (tensor<2x6xf32>) -> tensor<2x6xi64>
  %k = memgraph.cast %d : (tensor<2x6xf32>) -> tensor<2x6xi64>
  // CHECK: memgraph.fully_connected %{{.*}}, %{{.*}} keep_dims activation<relu> : (
  %f = memgraph.fully_connected %d, %w keep_dims activation<relu> : (tensor<2x6xf32>, tensor<3x6xf32>) -> tensor<2x3xf32>
  // CHECK: memgraph.softmax %{{.*}} axis 1 beta 1.000000e+00 :
  %s = memgraph.softmax %f axis 1 beta 1.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %akh = memgraph.reshape %d : (tensor<2x6xf32>) -> tensor<1x3x4xf32>
  // CHECK: memgraph.attention %{{.*}}, %{{.*}}, %{{.*}} heads 2 scale 5.000000e-01 :
  %akt = memgraph.attention %akh, %akh, %akh heads 2 scale 0.5 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %aki = memgraph.reshape %d : (tensor<2x6xf32>) -> tensor<1x6x2xf32>
  %akj = memgraph.reshape %w : (tensor<3x6xf32>) -> tensor<1x3x6xf32>
  // CHECK: memgraph.attention %{{.*}}, %{{.*}}, %{{.*}} heads 2 scale 5.000000e-01 causal 1 :
  %akv = memgraph.attention %akh, %akh, %akh heads 2 scale 0.5 causal 1 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  // CHECK: memgraph.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} heads 2 kv_heads 1 scale 5.000000e-01 :
  %aku = memgraph.attention %akh, %aki, %aki, %akj heads 2 kv_heads 1 scale 0.5 : (tensor<1x3x4xf32>, tensor<1x6x2xf32>, tensor<1x6x2xf32>, tensor<1x3x6xf32>) -> tensor<1x3x4xf32>
  %akb = memgraph.quantize %akh rounding<onnx_even> : (tensor<1x3x4xf32>) -> tensor<1x3x4xi8, #memgraph.encoding<scale = [1.0e-03], zero_point = [3]>>
  // CHECK: memgraph.attention %{{.*}} heads 2 scale 5.000000e-01 scores tensor<i8, {{.*}}> scaled tensor<ui8, {{.*}}> parts tensor<i8, {{.*}}> rounding<onnx_even> :
  %akc = memgraph.attention %akb, %akb, %akb heads 2 scale 0.5 scores tensor<i8, #memgraph.encoding<scale = [1.0e-02], zero_point = [0]>> scaled tensor<ui8, #memgraph.encoding<scale = [1.0e-02], zero_point = [0]>> parts tensor<i8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>> rounding<onnx_even> : (tensor<1x3x4xi8, #memgraph.encoding<scale = [1.0e-03], zero_point = [3]>>, tensor<1x3x4xi8, #memgraph.encoding<scale = [1.0e-03], zero_point = [3]>>, tensor<1x3x4xi8, #memgraph.encoding<scale = [1.0e-03], zero_point = [3]>>) -> tensor<1x3x4xi8, #memgraph.encoding<scale = [1.0e-03], zero_point = [3]>>
  // CHECK: memgraph.concat %{{.*}}, %{{.*}} axis 1 :
  %c = memgraph.concat %s, %f axis 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  // CHECK: memgraph.split %{{.*}} axis 1 : (tensor<2x6xf32>) -> (tensor<2x2xf32>, tensor<2x4xf32>)
  %p:2 = memgraph.split %c axis 1 : (tensor<2x6xf32>) -> (tensor<2x2xf32>, tensor<2x4xf32>)
  // CHECK: memgraph.slice %{{.*}} starts [0, 3] strides [1, -1] :
  %l = memgraph.slice %p#1 starts [0, 3] strides [1, -1] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  // CHECK: memgraph.pad %{{.*}} before [0, 1] after [0, 3] value -1.000000e+00 :
  %a = memgraph.pad %l before [0, 1] after [0, 3] value -1.0 : (tensor<2x2xf32>) -> tensor<2x6xf32>
  // CHECK: memgraph.mean %{{.*}} axes [1] keep_dims :
  %m = memgraph.mean %a axes [1] keep_dims : (tensor<2x6xf32>) -> tensor<2x1xf32>
  // CHECK: memgraph.transpose %{{.*}} permutation [1, 0] :
  %t = memgraph.transpose %a permutation [1, 0] : (tensor<2x6xf32>) -> tensor<6x2xf32>
  // CHECK: memgraph.reshape %{{.*}} : (tensor<2x6xf32>) -> tensor<12xf32>
  %r = memgraph.reshape %a : (tensor<2x6xf32>) -> tensor<12xf32>
  // CHECK: memgraph.copy %{{.*}} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %same = memgraph.copy %a : (tensor<2x6xf32>) -> tensor<2x6xf32>
  // CHECK: memgraph.resize_bilinear %{{.*}} align_corners :
  %u = memgraph.resize_bilinear %i align_corners : (tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>) -> tensor<1x8x8x2xf32, #memgraph.encoding<nhwc>>
  // CHECK: memgraph.resize_nearest %{{.*}} half_pixel_centers :
  %n = memgraph.resize_nearest %i half_pixel_centers : (tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>) -> tensor<1x8x8x2xf32, #memgraph.encoding<nhwc>>
  func.return %t, %m : tensor<6x2xf32>, tensor<2x1xf32>
}
// -----

// CHECK: builtin.module attributes {memgraph.files = {sha = "{{.*}}net.tflite"}}
builtin.module attributes {memgraph.files = {sha = "net.tflite"}} {
  // CHECK: func.func @structure(%x: tensor<8xi8> {memgraph.name = "input", memgraph.offset = 0 : i64}
  func.func @structure(%x: tensor<8xi8> {memgraph.name = "input", memgraph.offset = 0 : i64}) -> tensor<8xi8> {
    // CHECK: memgraph.variable "state" : tensor<4xi8>
    %v = memgraph.variable "state" : tensor<4xi8>
    // CHECK: memgraph.variable "set" initial dense<[1, 2]> : tensor<2xi8> : tensor<2xi8>
    %set = memgraph.variable "set" initial dense<[1, 2]> : tensor<2xi8> : tensor<2xi8>
    // CHECK: memgraph.read_variable %{{.*}} : (tensor<2xi8>) -> tensor<2xi8>
    %held = memgraph.read_variable %set : (tensor<2xi8>) -> tensor<2xi8>
    // CHECK: memgraph.assign_variable %{{.*}}, %{{.*}} : tensor<2xi8>, tensor<2xi8>
    memgraph.assign_variable %held, %set : tensor<2xi8>, tensor<2xi8>
    // CHECK: memgraph.variable "handle" {memgraph.names = ["h"]} : tensor<!memgraph.runtime<"resource">>
    %h = memgraph.variable "handle" {memgraph.names = ["h"]} : tensor<!memgraph.runtime<"resource">>
    // CHECK: memgraph.opaque "CUSTOM \22op\22"(%x, %{{.*}}) stateful options {a = 1 : i64, b = "c"} {memgraph.source = #memgraph.source<0, 3, [7, 8]>} : (tensor<8xi8>, tensor<4xi8>) -> (tensor<8xi8>, tensor<4xi8>)
    %a:2 = memgraph.opaque "CUSTOM \"op\""(%x, %v) stateful options {a = 1 : i64, b = "c"} {memgraph.source = #memgraph.source<0, 3, [7, 8]>} : (tensor<8xi8>, tensor<4xi8>) -> (tensor<8xi8>, tensor<4xi8>)
    // CHECK: memgraph.opaque "sink"(%{{.*}}) : (tensor<4xi8>) -> ()
    memgraph.opaque "sink"(%a#1) : (tensor<4xi8>) -> ()
    // CHECK: memgraph.opaque "first"() : () -> !memgraph.after
    %t = memgraph.opaque "first"() : () -> !memgraph.after
    // CHECK: memgraph.opaque "second"(%{{.*}}) : (!memgraph.after) -> ()
    memgraph.opaque "second"(%t) : (!memgraph.after) -> ()
    // CHECK: memgraph.opaque "source"() : () -> tensor<8xi8>
    %o = memgraph.opaque "source"() : () -> tensor<8xi8>
    // CHECK: memgraph.fused (%{{.*}} = %{{.*}} : tensor<8xi8>, %{{.*}} = %{{.*}} : tensor<8xi8>) kept [1] -> tensor<8xi8> attributes {memgraph.names = ["f"]} {
    %f = memgraph.fused (%p = %a#0 : tensor<8xi8>, %q = %o : tensor<8xi8>) kept [1] -> tensor<8xi8> attributes {memgraph.names = ["f"]} {
      %i = memgraph.add %p, %q : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
      // CHECK: memgraph.yield %{{.*}} : tensor<8xi8>
      memgraph.yield %i : tensor<8xi8>
    }
    // CHECK: memgraph.segment (%{{.*}} = %{{.*}} : tensor<8xi8>) -> (tensor<8xi8>, !memgraph.chain) {
    %s, %c = memgraph.segment (%p = %f : tensor<8xi8>) -> (tensor<8xi8>, !memgraph.chain) {
      %i = memgraph.relu %p : (tensor<8xi8>) -> tensor<8xi8>
      memgraph.yield %i : tensor<8xi8>
    }
    // CHECK: memgraph.segment (%{{.*}} = %{{.*}} : tensor<8xi8>, %{{.*}} = %{{.*}} : tensor<8xi8>) after %{{.*}} -> tensor<8xi8> {
    %e = memgraph.segment (%p = %s : tensor<8xi8>, %q = %o : tensor<8xi8>) after %c -> tensor<8xi8> {
      %i = memgraph.sub %p, %q : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
      memgraph.yield %i : tensor<8xi8>
    }
    // CHECK: memgraph.segment () -> () {
    memgraph.segment () -> () {
      memgraph.yield
    }
    func.return %e : tensor<8xi8>
  }
}
// -----

// The plan's attributes: they may sit on any operation.
// CHECK: attributes {memgraph.model = #memgraph.model<target = cortex-m4, alignment = 8, io = kept, views = off, inplace = on, scratch = tflm>, memgraph.plan = #memgraph.plan<peak = 64, lower_bound = 48, proof = flow, family = order, arena = 80, arena_lower_bound = 64, fingerprint = "00">}
func.func @plan(%x: tensor<8xi8> {memgraph.offset = #memgraph.unplaced<caller>}) -> tensor<4xi8> attributes {
    memgraph.model = #memgraph.model<alignment = 8, target = cortex-m4, io = kept, views = off, inplace = on, scratch = tflm>,
    memgraph.plan = #memgraph.plan<lower_bound = 48, peak = 64, proof = flow, family = order, arena = 80, arena_lower_bound = 64, fingerprint = "00">} {
  // CHECK: {memgraph.offset = [#memgraph.unplaced<constant>]}
  %w = memgraph.constant dense<1> : tensor<8xi8> {memgraph.offset = [#memgraph.unplaced<constant>]}
  // CHECK: memgraph.alias = {{\[\[}}#memgraph.alias<operand = 1, kind = inplace>], [#memgraph.alias<operand = 0, kind = slice, byte_offset = 4>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -4, strides = [8, 1]>]]
  // CHECK-SAME: memgraph.offset = [#memgraph.slot<dtcm, 1024>, #memgraph.slot<"odd bank", 0>], memgraph.order = 0 : i64, memgraph.scratch = [#memgraph.scratch<96>, #memgraph.scratch<32, 128>]
  %a, %b = memgraph.opaque "two"(%x, %w) {memgraph.alias = [[#memgraph.alias<kind = inplace, operand = 1>], [#memgraph.alias<operand = 0, kind = slice, byte_offset = 4>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -4, strides = [8, 1]>]],
    memgraph.offset = [#memgraph.slot<dtcm, 1024>, #memgraph.slot<"odd bank", 0>], memgraph.order = 0 : i64, memgraph.scratch = [#memgraph.scratch<96>, #memgraph.scratch<32, 128>]} : (tensor<8xi8>, tensor<8xi8>) -> (tensor<8xi8>, tensor<4xi8>)
  // CHECK: memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = view>]], memgraph.offset = [#memgraph.unplaced<runtime>]
  %c = memgraph.reshape %b {memgraph.alias = [[#memgraph.alias<operand = 0, kind = view>]], memgraph.offset = [#memgraph.unplaced<runtime>]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return %c : tensor<4xi8>
}
// -----
// Shared objects; scratch in another memory.
// CHECK: @objects(%x: tensor<8xi8> {memgraph.offset = #memgraph.slot<object1, 0>})
// CHECK-SAME: #memgraph.plan<peak = 16, lower_bound = 16, proof = flow, family = order, arena = 24, arena_lower_bound = 16, memories = [#memgraph.memory<object0, kind = object, bytes = 16>, #memgraph.memory<object1, kind = object, bytes = 8>], memories_lower_bound = 20, fingerprint = "b">
func.func @objects(%x: tensor<8xi8> {memgraph.offset = #memgraph.slot<object1, 0>}) -> tensor<4xi8> attributes {memgraph.plan = #memgraph.plan<memories_lower_bound = 20, memories = [#memgraph.memory<object0, bytes = 16, kind = object>, #memgraph.memory<"object1", kind = object, bytes = 8>], peak = 16, lower_bound = 16, family = order, proof = flow, arena = 24, arena_lower_bound = 16, fingerprint = "b">} {
  // CHECK: memgraph.offset = [#memgraph.slot<object0, 12>], memgraph.scratch = [#memgraph.scratch<9, #memgraph.slot<object2, 0>>, #memgraph.scratch<8, #memgraph.slot<object2, 16>>, #memgraph.scratch<4, #memgraph.slot<dtcm, 32>>]
  %a = memgraph.opaque "one"(%x) {memgraph.offset = [#memgraph.slot<object0, 12>], memgraph.scratch = [#memgraph.scratch<9, #memgraph.slot<object2, 0>>, #memgraph.scratch<8, #memgraph.slot<object2, 16>>, #memgraph.scratch<4, #memgraph.slot<dtcm, 32>>]} : (tensor<8xi8>) -> tensor<4xi8>
  func.return %a : tensor<4xi8>
}
// -----

// Proof words, and what is left out of a model is the default.
// CHECK: @default() attributes {memgraph.model = #memgraph.model<target = generic, alignment = 16, io = arena, views = on, inplace = off, scratch = none>, memgraph.plan = #memgraph.plan<peak = 0, lower_bound = 0, proof = none, family = order, fingerprint = "">}
func.func @default() attributes {memgraph.model = #memgraph.model<>, memgraph.plan = #memgraph.plan<peak = 0, lower_bound = 0, proof = none, family = order, fingerprint = "">} {
  func.return
}
// CHECK: @empty_encoding(%{{.*}}: tensor<4xi8>, %{{.*}}: !a{{[0-9]+}})
func.func @empty_encoding(%x: tensor<4xi8>, %y: tensor<4xi4, #memgraph.encoding<>>) {
  func.return
}
// CHECK: @targets
func.func @targets() attributes {
    // CHECK-SAME: a = #memgraph.model<target = host, alignment = 1, io = caller
    a = #memgraph.model<target = host, alignment = 1, io = caller>,
    b = #memgraph.model<target = cortex-m7>, c = #memgraph.model<target = cortex-m55, scratch = cmsis-nn>,
    // CHECK-SAME: d = #memgraph.model<target = tflm, alignment = 1048576
    d = #memgraph.model<target = tflm, alignment = 1048576>} {
  func.return
}
// -----

// Memories, and traffic off the chip. Names that are no words are in quotes.
// CHECK: @memories() attributes {memgraph.plan = #memgraph.plan<peak = 48, lower_bound = 48, proof = flow, family = order, arena = 48, arena_lower_bound = 48, memories = [#memgraph.memory<dtcm, kind = bank, bytes = 48, capacity = 64, cost = 1, moved = 20>, #memgraph.memory<"odd bank", kind = bank, bytes = 0, capacity = 128, cost = 2, moved = 0>], traffic = #memgraph.traffic<cost = 20, lower_bound = 16, proof = none>, fingerprint = "c">, memgraph.off_chip = #memgraph.off_chip<on_chip = 256, rule = belady, moved = 40, lower_bound = 32, proof = ilp>}
func.func @memories() attributes {
    memgraph.plan = #memgraph.plan<fingerprint = "c", traffic = #memgraph.traffic<proof = none, lower_bound = 16, cost = 20>, memories = [#memgraph.memory<dtcm, cost = 1, moved = 20, kind = bank, capacity = 64, bytes = 48>, #memgraph.memory<"odd bank", kind = bank, bytes = 0, capacity = 128, cost = 2, moved = 0>], arena_lower_bound = 48, arena = 48, family = order, proof = flow, lower_bound = 48, peak = 48>,
    memgraph.off_chip = #memgraph.off_chip<on_chip = 256, moved = 40, lower_bound = 32, proof = ilp, rule = belady>} {
  func.return
}
// -----

// Rows: which row of an operator, of which rows; tensors in rows, and rows as a tensor.
!t = tensor<1x2x4x4xi8>
!r = tensor<1x1x4x4xi8>
// CHECK: @rows(%x: tensor<1x2x4x4xi8>)
func.func @rows(%x: !t) -> !t {
  // CHECK: %f = memgraph.row_kernel (%a: tensor<1x2x4x4xi8>) attributes {note} {
  %f = memgraph.row_kernel (%a: !t) attributes {note} {
    %b = memgraph.relu %a : (!t) -> !t
    memgraph.yield %b : !t
  }
  // CHECK: %x0, %x1 = memgraph.split_rows %x {note} : tensor<1x2x4x4xi8>
  %x0, %x1 = memgraph.split_rows %x {note} : !t
  // CHECK: %y0 = memgraph.row %f[0] (%x0) {note} : (tensor<1x1x4x4xi8>) -> tensor<1x1x4x4xi8>
  %y0 = memgraph.row %f[0] (%x0) {note} : (!r) -> !r
  %y1 = memgraph.row %f[1] (%x1) : (!r) -> !r
  // CHECK: %y = memgraph.join %y0, %y1 {note} : tensor<1x2x4x4xi8>
  %y = memgraph.join %y0, %y1 {note} : !t
  // CHECK: func.func private @operator(!memgraph.operator)
  func.return %y : !t
}
func.func private @operator(!memgraph.operator)

// -----

// A row that the caller hands over.
// CHECK: @received(%x: tensor<1x2x4x4xi8>)
func.func @received(%x: tensor<1x2x4x4xi8>) -> tensor<1x1x4x4xi8> {
  // CHECK: %x0 = memgraph.receive %x[0] {note} : tensor<1x2x4x4xi8>
  %x0 = memgraph.receive %x[0] {note} : tensor<1x2x4x4xi8>
  %x1 = memgraph.receive %x[1] : tensor<1x2x4x4xi8>
  func.return %x1 : tensor<1x1x4x4xi8>
}

// -----

// Channels that were left out, and constants that a rewrite makes of constants.
// CHECK: @narrowed
func.func @narrowed(%x: tensor<1x2x2x2xi8>, %w: tensor<4x1x1x3xi8>, %b: tensor<4xi32>) -> tensor<1x2x2x2xi8> {
  // CHECK: memgraph.take %w axis 3 kept [0, 2] {note} :
  %0 = memgraph.take %w axis 3 kept [0, 2] {note} : (tensor<4x1x1x3xi8>) -> tensor<4x1x1x2xi8>
  // CHECK: memgraph.fold_into_bias %w, %b axis 3 values [0, -7, 0] {note} :
  %1 = memgraph.fold_into_bias %w, %b axis 3 values [0, -7, 0] {note} : (tensor<4x1x1x3xi8>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: memgraph.fold_into_bias %w axis 3 values [0, -7, 0] :
  %2 = memgraph.fold_into_bias %w axis 3 values [0, -7, 0] : (tensor<4x1x1x3xi8>) -> tensor<4xi32>
  // CHECK: {memgraph.channels = [#memgraph.channels<4, left_out = [1 [-128, 7] unread, 3 [5, 5] zero_weights]>, #memgraph.channels<3>]}
  %y = memgraph.relu %x {memgraph.channels = [#memgraph.channels<4, left_out = [1 [-128, 7] unread, 3 [5, 5] zero_weights]>, #memgraph.channels<3, left_out = []>]} : (tensor<1x2x2x2xi8>) -> tensor<1x2x2x2xi8>
  func.return %y : tensor<1x2x2x2xi8>
}

// -----

// What is promised of an input, and channels of reals.
// CHECK: @promised(%x: tensor<1x2x2x2xf32> {memgraph.range = #memgraph.range<-1.0, 1.0e-30>})
func.func @promised(%x: tensor<1x2x2x2xf32> {memgraph.range = #memgraph.range<-1, 1.0e-30>}) -> tensor<1x2x2x2xf32> {
  // CHECK: {memgraph.channels = [#memgraph.channels<3, left_out = [1 [-1.5, 7.0e+30] unread]>]}
  %y = memgraph.relu %x {memgraph.channels = [#memgraph.channels<3, left_out = [1 [-1.5, 7.0e+30] unread]>]} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  func.return %y : tensor<1x2x2x2xf32>
}

// -----

// Rows that stay from run to run.
// CHECK: @kept(%x: tensor<1x4x4x4xi8>)
func.func @kept(%x: tensor<1x4x4x4xi8>) -> tensor<1x1x4x4xi8> {
  %f = memgraph.row_kernel (%a: tensor<1x4x4x4xi8>) {
    %y, %z = memgraph.split %a axis 3 : (tensor<1x4x4x4xi8>) -> (tensor<1x4x4x2xi8>, tensor<1x4x4x2xi8>)
    memgraph.yield %y, %z : tensor<1x4x4x2xi8>, tensor<1x4x4x2xi8>
  }
  // CHECK: %s = memgraph.state %x rows [1, 2] shift 1 {note} : tensor<1x4x4x4xi8>
  %s = memgraph.state %x rows [1, 2] shift 1 {note} : tensor<1x4x4x4xi8>
  // CHECK: %t = memgraph.state %f result 1 rows [2] shift 1 : !memgraph.operator
  %t = memgraph.state %f result 1 rows [2] shift 1 : !memgraph.operator
  // CHECK: %x1 = memgraph.recall %s[1] {note} : tensor<1x4x4x4xi8>
  %x1 = memgraph.recall %s[1] {note} : tensor<1x4x4x4xi8>
  %x3 = memgraph.receive %x[3] : tensor<1x4x4x4xi8>
  // CHECK: memgraph.slide %s {note}
  memgraph.slide %s {note}
  // CHECK: memgraph.retain %x3, %s[2] {note} : tensor<1x4x4x4xi8>
  memgraph.retain %x3, %s[2] {note} : tensor<1x4x4x4xi8>
  // CHECK: func.func private @state(!memgraph.state)
  func.return %x3 : tensor<1x1x4x4xi8>
}
func.func private @state(!memgraph.state)

// What rules did.
// CHECK: @rewritten() attributes {memgraph.rewrites = [#memgraph.rewritten<"gather", sites = 3, left = 1, peak = [512, 384] proven>, #memgraph.rewritten<"a\22b", sites = 2, weights = [20, 10], macs = [7, 5], peak = [9, 9]>]}
func.func @rewritten() attributes {memgraph.rewrites = [#memgraph.rewritten<"gather", left = 1, sites = 3, peak = [512, 384] proven>, #memgraph.rewritten<"a\"b", macs = [7, 5], peak = [9, 9], sites = 2, weights = [20, 10]>]} {
  func.return
}

// Normalizations of the last dimensions, in each form.
// CHECK: @normalized(%x: tensor<1x4x6xf32>, %s: tensor<6xf32>)
func.func @normalized(%x: tensor<1x4x6xf32>, %s: tensor<6xf32>) {
  // CHECK: %0 = memgraph.layer_normalization %x, %s, %s axis 2 epsilon 1.000000e-05 : (tensor<1x4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x4x6xf32>
  %1 = memgraph.layer_normalization %x, %s, %s axis 2 epsilon 1.0e-05 : (tensor<1x4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x4x6xf32>
  // CHECK: %1 = memgraph.layer_normalization %x axis 1 epsilon 0.000000e+00 form "line" around_zero rounding<onnx_even> {a} : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %2 = memgraph.layer_normalization %x axis 1 epsilon 0.0 form "line" around_zero rounding<onnx_even> {a} : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  func.return
}

// Recurrent layers that begin at a given state.
// CHECK: @layers(%x: tensor<1x4x2xf32>, %s: tensor<1x3xf32>)
func.func @layers(%x: tensor<1x4x2xf32>, %s: tensor<1x3xf32>) {
  %w = memgraph.constant dense<0.5> : tensor<9x2xf32>
  %r = memgraph.constant dense<0.5> : tensor<9x3xf32>
  %b = memgraph.constant dense<0.5> : tensor<12xf32>
  // CHECK: memgraph.gru_layer %x, %w, %r, %b initial %s clip 2.000000e+00 linear_before_reset : (
  %1 = memgraph.gru_layer %x, %w, %r, %b initial %s clip 2.0 linear_before_reset : (tensor<1x4x2xf32>, tensor<9x2xf32>, tensor<9x3xf32>, tensor<12xf32>, tensor<1x3xf32>) -> tensor<1x4x3xf32>
  %v = memgraph.constant dense<0.5> : tensor<3x2xf32>
  %t = memgraph.constant dense<0.5> : tensor<3x3xf32>
  %c = memgraph.constant dense<0.5> : tensor<3xf32>
  // CHECK: memgraph.rnn_layer %x, %v, %t, %c time_major reverse activation<relu> : (
  %2 = memgraph.rnn_layer %x, %v, %t, %c time_major reverse activation<relu> : (tensor<1x4x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<1x4x3xf32>
  func.return
}

// Channels in turn.
// CHECK: @permuted(%x: tensor<1x4x4x6xf32>)
func.func @permuted(%x: tensor<1x4x4x6xf32>) {
  // CHECK: %0 = memgraph.channel_permutation %x groups 2 {a} : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  %0 = memgraph.channel_permutation %x groups 2 {a} : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  func.return
}

// A table of bytes, as the rule functions-as-lookup makes one.
// CHECK: @looked_up(%x: tensor<1x4xui8>)
func.func @looked_up(%x: tensor<1x4xui8>) {
  // CHECK: %0 = memgraph.lookup %x table [-128, -127, {{.*}}, 126, 127] {a} : (tensor<1x4xui8>) -> tensor<1x4xi8>
  %0 = memgraph.lookup %x table [-128, -127, -126, -125, -124, -123, -122, -121, -120, -119, -118, -117, -116, -115, -114, -113, -112, -111, -110, -109, -108, -107, -106, -105, -104, -103, -102, -101, -100, -99, -98, -97, -96, -95, -94, -93, -92, -91, -90, -89, -88, -87, -86, -85, -84, -83, -82, -81, -80, -79, -78, -77, -76, -75, -74, -73, -72, -71, -70, -69, -68, -67, -66, -65, -64, -63, -62, -61, -60, -59, -58, -57, -56, -55, -54, -53, -52, -51, -50, -49, -48, -47, -46, -45, -44, -43, -42, -41, -40, -39, -38, -37, -36, -35, -34, -33, -32, -31, -30, -29, -28, -27, -26, -25, -24, -23, -22, -21, -20, -19, -18, -17, -16, -15, -14, -13, -12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127] {a} : (tensor<1x4xui8>) -> tensor<1x4xi8>
  func.return
}

// A formula, as the rule functions-as-formula makes one.
// CHECK: @gated(%x: tensor<1x4xf32>)
func.func @gated(%x: tensor<1x4xf32>) {
  // CHECK: %0 = memgraph.formula %x "mul(x, tanh(x))" {a} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %0 = memgraph.formula %x "mul(x, tanh(x))" {a} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return
}

// Normalizations of groups of channels.
// CHECK: @grouped(%x: tensor<1x4x4x6xf32>, %s: tensor<6xf32>)
func.func @grouped(%x: tensor<1x4x4x6xf32>, %s: tensor<6xf32>) {
  // CHECK: %0 = memgraph.group_statistics %x groups 2 {a} : (tensor<1x4x4x6xf32>) -> tensor<2x2xf32>
  %0 = memgraph.group_statistics %x groups 2 {a} : (tensor<1x4x4x6xf32>) -> tensor<2x2xf32>
  // CHECK: %1 = memgraph.group_normalization %x, %0, %s, %s epsilon 1.000000e-05 activation<relu> {a} : (tensor<1x4x4x6xf32>, tensor<2x2xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x4x4x6xf32>
  %1 = memgraph.group_normalization %x, %0, %s, %s epsilon 1.0e-05 activation<relu> {a} : (tensor<1x4x4x6xf32>, tensor<2x2xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x4x4x6xf32>
  // CHECK: %2 = memgraph.group_normalization %x, %0 epsilon 0.000000e+00 : (tensor<1x4x4x6xf32>, tensor<2x2xf32>) -> tensor<1x4x4x6xf32>
  %2 = memgraph.group_normalization %x, %0 epsilon 0.0 : (tensor<1x4x4x6xf32>, tensor<2x2xf32>) -> tensor<1x4x4x6xf32>
  func.return
}
