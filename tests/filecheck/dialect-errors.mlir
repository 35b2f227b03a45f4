// Every rule of the dialect's own verifiers, and every refusal of its parsers, once.
// RUN: memopt-opt --split-input-file --verify-diagnostics %s

func.func @conv_window(%x: tensor<1x8x8x4xf32, #memgraph.encoding<nhwc>>, %w: tensor<4x3x3x4xf32, #memgraph.encoding<ohwi>>) {
  // expected-error@+1 {{dimension 1 of the result is 8, not 6}}
  %0 = memgraph.conv_2d %x, %w window<[3, 3]> groups 1 : (tensor<1x8x8x4xf32, #memgraph.encoding<nhwc>>, tensor<4x3x3x4xf32, #memgraph.encoding<ohwi>>) -> tensor<1x8x8x4xf32, #memgraph.encoding<nhwc>>
  func.return
}
// -----
func.func @conv_nchw(%x: tensor<1x4x8x8xf32, #memgraph.encoding<nchw>>, %w: tensor<4x4x3x3xf32, #memgraph.encoding<oihw>>) {
  // expected-error@+1 {{dimension 2 of the result is 8, not 6}}
  %0 = memgraph.conv_2d %x, %w window<[3, 3]> groups 1 : (tensor<1x4x8x8xf32, #memgraph.encoding<nchw>>, tensor<4x4x3x3xf32, #memgraph.encoding<oihw>>) -> tensor<1x4x8x8xf32, #memgraph.encoding<nchw>>
  func.return
}
// -----
func.func @conv_weights(%x: tensor<1x8x8x4xf32>, %w: tensor<4x5x5x4xf32>) {
  // expected-error@+1 {{weights (4, 5, 5, 4) do not have the window's kernel (3, 3)}}
  %0 = memgraph.conv_2d %x, %w window<[3, 3]> groups 1 : (tensor<1x8x8x4xf32>, tensor<4x5x5x4xf32>) -> tensor<1x6x6x4xf32>
  func.return
}
// -----
func.func @conv_batch(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>) {
  // expected-error@+1 {{memgraph.conv_2d: 1 batches in, 2 out}}
  %0 = memgraph.conv_2d %x, %w window<[3, 3]> groups 1 : (tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) -> tensor<2x6x6x4xf32>
  func.return
}
// -----
func.func @conv_channels(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>) {
  // expected-error@+1 {{memgraph.conv_2d: 4 filters cannot make 5 channels}}
  %0 = memgraph.conv_2d %x, %w window<[3, 3]> groups 1 : (tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) -> tensor<1x6x6x5xf32>
  func.return
}
// -----
func.func @conv_groups(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>) {
  // expected-error@+1 {{memgraph.conv_2d: filters of depth 4 in 2 groups do not fit 4 channels}}
  %0 = memgraph.conv_2d %x, %w window<[3, 3]> groups 2 : (tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  func.return
}
// -----
// Row 1 of the result lies where row 1 of the operand is still to be read.
func.func @conv_in_place(%x: tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>, %w: tensor<1x1x1x2xf32, #memgraph.encoding<ihwo>>) {
  // expected-error@+1 {{memgraph.depthwise_conv_2d: in_place, which needs one image, one filter to a channel, and a result no larger at any row}}
  %0 = memgraph.depthwise_conv_2d %x, %w window<[1, 1], stride = [2, 1], pad = [1, 1, 0, 2]> groups 2 in_place : (tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>, tensor<1x1x1x2xf32, #memgraph.encoding<ihwo>>) -> tensor<1x3x7x2xf32, #memgraph.encoding<nhwc>>
  func.return
}
// -----
func.func @conv_bias(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{memgraph.conv_2d: a bias of 3 for 4 channels}}
  %0 = memgraph.conv_2d %x, %w, %b window<[3, 3]> groups 1 : (tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>, tensor<3xf32>) -> tensor<1x6x6x4xf32>
  func.return
}
// -----
func.func @depthwise_channels(%x: tensor<1x8x8x4xf32>, %w: tensor<1x3x3x6xf32>) {
  // expected-error@+1 {{memgraph.depthwise_conv_2d: 6 filters cannot make 4 channels}}
  %0 = memgraph.depthwise_conv_2d %x, %w window<[3, 3]> groups 4 : (tensor<1x8x8x4xf32>, tensor<1x3x3x6xf32>) -> tensor<1x6x6x4xf32>
  func.return
}
// -----
func.func @pool_channels(%x: tensor<1x8x8x4xf32>) {
  // expected-error@+1 {{memgraph.max_pool_2d: 4 channels in, 3 out}}
  %0 = memgraph.max_pool_2d %x window<[2, 2], stride = [2, 2]> : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x3xf32>
  func.return
}
// -----
func.func @fully_connected_result(%x: tensor<2x6xf32>, %w: tensor<3x6xf32>) {
  // expected-error@+1 {{memgraph.fully_connected: the result has 8 elements, not 2 rows of 3}}
  %0 = memgraph.fully_connected %x, %w : (tensor<2x6xf32>, tensor<3x6xf32>) -> tensor<2x4xf32>
  func.return
}
// -----
func.func @depthwise_rank(%x: tensor<8x8x4xf32>, %w: tensor<1x3x3x4xf32>) {
  // expected-error@+1 {{rank does not fit window}}
  %0 = memgraph.depthwise_conv_2d %x, %w window<[3, 3]> groups 4 : (tensor<8x8x4xf32>, tensor<1x3x3x4xf32>) -> tensor<6x6x4xf32>
  func.return
}
// -----
func.func @pool_window(%x: tensor<1x8x8x4xf32>) {
  // expected-error@+1 {{memgraph.max_pool_2d: dimension 2 of the result is 5, not 4}}
  %0 = memgraph.max_pool_2d %x window<[2, 2], stride = [2, 2]> : (tensor<1x8x8x4xf32>) -> tensor<1x4x5x4xf32>
  func.return
}
// -----
func.func @average_pool_window(%x: tensor<1x8x8x4xf32>) {
  // expected-error@+1 {{memgraph.average_pool_2d: dimension 1 of the result is 7, not 4}}
  %0 = memgraph.average_pool_2d %x window<[2, 2], stride = [2, 2]> : (tensor<1x8x8x4xf32>) -> tensor<1x7x4x4xf32>
  func.return
}
// -----
func.func @fully_connected_weights(%x: tensor<2x6xf32>, %w: tensor<3x6x1xf32>) {
  // expected-error@+1 {{weights must have two dimensions}}
  %0 = memgraph.fully_connected %x, %w : (tensor<2x6xf32>, tensor<3x6x1xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @fully_connected_rows(%x: tensor<2x7xf32>, %w: tensor<3x6xf32>) {
  // expected-error@+1 {{input of 14 elements does not split into rows of 6}}
  %0 = memgraph.fully_connected %x, %w : (tensor<2x7xf32>, tensor<3x6xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @broadcast(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+1 {{memgraph.add: shapes (2, 3) and (2, 4) do not broadcast}}
  %0 = memgraph.add %x, %y : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return
}
// -----
func.func @broadcast_result(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{memgraph.mul: the result's shape must be (2, 3)}}
  %0 = memgraph.mul %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}
// -----
func.func @unary(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.relu: shapes differ}}
  %0 = memgraph.relu %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return
}
// -----
func.func @softmax_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.softmax: axis 2 out of range}}
  %0 = memgraph.softmax %x axis 2 beta 1.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @softmax_shape(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.softmax: shapes differ}}
  %0 = memgraph.softmax %x axis 1 beta 1.0 : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return
}
// -----
func.func @concat_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.concat: axis 2 out of range}}
  %0 = memgraph.concat %x axis 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @concat_nothing() {
  // expected-error@+1 {{memgraph.concat: nothing to join}}
  %0 = "memgraph.concat"() <{axis = 0 : i64}> : () -> tensor<2x3xf32>
  func.return
}
// -----
func.func @concat_shape(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error@+1 {{memgraph.concat: operand (3, 3) does not fit (2, 6)}}
  %0 = memgraph.concat %x, %y axis 1 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>
  func.return
}
// -----
func.func @concat_total(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.concat: operands have 6 along axis 1, not 7}}
  %0 = memgraph.concat %x, %x axis 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
  func.return
}
// -----
func.func @split_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.split: axis 2 out of range}}
  %0 = memgraph.split %x axis 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @split_total(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.split: parts have 4 along axis 1}}
  %0:2 = memgraph.split %x axis 1 : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  func.return
}
// -----
func.func @split_rank(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.split: part (3,) does not fit (2, 3)}}
  %0 = memgraph.split %x axis 1 : (tensor<2x3xf32>) -> (tensor<3xf32>)
  func.return
}
// -----
func.func @slice_ranks(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.slice: ranks differ}}
  %0 = memgraph.slice %x starts [0] strides [1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @slice_leaves(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.slice: slice 1:3:1 leaves the operand}}
  %0 = memgraph.slice %x starts [0, 1] strides [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @slice_stride(%x: tensor<3xf32>) {
  // expected-error@+1 {{leaves the operand}}
  %0 = memgraph.slice %x starts [0] strides [0] : (tensor<3xf32>) -> tensor<3xf32>
  func.return
}
// -----
func.func @pad_ranks(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.pad: ranks differ}}
  %0 = memgraph.pad %x before [0] after [0, 0] value 0.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @pad_negative(%x: tensor<3xf32>) {
  // expected-error@+1 {{memgraph.pad: negative padding}}
  %0 = memgraph.pad %x before [-1] after [0] value 0.0 : (tensor<3xf32>) -> tensor<2xf32>
  func.return
}
// -----
func.func @pad_shape(%x: tensor<3xf32>) {
  // expected-error@+1 {{memgraph.pad: the result's shape must be (5,)}}
  %0 = memgraph.pad %x before [1] after [1] value 0.0 : (tensor<3xf32>) -> tensor<6xf32>
  func.return
}
// -----
func.func @mean_axes(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.mean: axes [2] out of range}}
  %0 = memgraph.mean %x axes [2] : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}
// -----
func.func @mean_shape(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.mean: the result's shape must be (2, 1)}}
  %0 = memgraph.mean %x axes [1] keep_dims : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}
// -----
func.func @reshape(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.reshape: 24 bytes cannot become 20 bytes}}
  %0 = memgraph.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  func.return
}
// -----
func.func @transpose(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.transpose: [0, 0] is no permutation}}
  %0 = memgraph.transpose %x permutation [0, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return
}
// -----
func.func @transpose_shape(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.transpose: the result's shape must be (3, 2)}}
  %0 = memgraph.transpose %x permutation [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @resize_rank(%x: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{memgraph.resize_nearest: only height and width may change}}
  %0 = memgraph.resize_nearest %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32>
  func.return
}
// -----
func.func @no_tensor(%x: i32) {
  // expected-error@+1 {{i32 should be of base attribute tensor}}
  %0 = memgraph.relu %x : (i32) -> i32
  func.return
}
// -----
// Structure.
func.func @constant_value() {
  // expected-error@+1 {{value must be dense elements or #memgraph.weights}}
  %0 = "memgraph.constant"() <{value = 1 : i32}> : () -> tensor<1xi32>
  func.return
}
// -----
func.func @constant_type() {
  // expected-error@+1 {{the value's type is not the result's}}
  %0 = "memgraph.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<1xi32>
  func.return
}
// -----
func.func @constant_parse() {
  // expected-error@+1 {{expected dense elements or #memgraph.weights}}
  %0 = memgraph.constant 1 : i32
  func.return
}
// -----
func.func @yield_outside(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.yield}}
  memgraph.yield %x : tensor<4xi8>
}
// -----
func.func @hyper_arguments(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.fused: arguments do not match the operands}}
  %0 = "memgraph.fused"(%x) <{kept = array<i64>}> ({
  ^bb0(%a: tensor<5xi8>):
    memgraph.yield %a : tensor<5xi8>
  }) : (tensor<4xi8>) -> tensor<5xi8>
  func.return
}
// -----
func.func @hyper_yield(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.fused: yielded values do not match the results}}
  %0 = memgraph.fused (%a = %x : tensor<4xi8>) -> tensor<5xi8> {
    memgraph.yield %a : tensor<4xi8>
  }
  func.return
}
// -----
func.func @hyper_end(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.fused: the body must end in memgraph.yield}}
  %0 = memgraph.fused (%a = %x : tensor<4xi8>) -> tensor<4xi8> {
    %b = memgraph.relu %a : (tensor<4xi8>) -> tensor<4xi8>
  }
  func.return
}
// -----
func.func @hyper_nested(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.fused: hyper-nodes do not nest}}
  %0 = memgraph.fused (%a = %x : tensor<4xi8>) -> tensor<4xi8> {
    %b = memgraph.fused (%c = %a : tensor<4xi8>) -> tensor<4xi8> {
      memgraph.yield %c : tensor<4xi8>
    }
    memgraph.yield %b : tensor<4xi8>
  }
  func.return
}
// -----
func.func @hyper_kept(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.fused: kept must list operands, ascending}}
  %0 = memgraph.fused (%a = %x : tensor<4xi8>) kept [1] -> tensor<4xi8> {
    memgraph.yield %a : tensor<4xi8>
  }
  func.return
}
// -----
func.func @hyper_isolated(%x: tensor<4xi8>) {
  // expected-error@+1 {{using value defined out of its IsolatedFromAbove parent}}
  %0 = memgraph.fused () -> tensor<4xi8> {
    %b = memgraph.relu %x : (tensor<4xi8>) -> tensor<4xi8>
    memgraph.yield %b : tensor<4xi8>
  }
  func.return
}
// -----
func.func @fused_chain(%x: tensor<4xi8>) {
  // expected-error@+1 {{memgraph.fused: only a memgraph.segment has a chain}}
  %0, %c = memgraph.fused (%a = %x : tensor<4xi8>) -> (tensor<4xi8>, !memgraph.chain) {
    memgraph.yield %a : tensor<4xi8>
  }
  func.return
}
// -----
// Attributes.
// expected-error@+1 {{activation 'gelu' (did you mean relu?) is not one of: relu, relu6, relu_n1_to_1, tanh, sign_bit}}
func.func @activation() attributes {a = #memgraph.activation<gelu>}
// -----
// expected-error@+1 {{rounding 'up' is not one of: tflm_double, tflite_single, onnx_even}}
func.func @rounding() attributes {a = #memgraph.rounding<up>}
// -----
// expected-error@+1 {{scale and zero_point differ in length}}
func.func @encoding_length() attributes {a = #memgraph.encoding<scale = [1.0], zero_point = [1, 2]>}
// -----
// expected-error@+1 {{several scales need an axis}}
func.func @encoding_axis() attributes {a = #memgraph.encoding<scale = [1.0, 2.0], zero_point = [1, 2]>}
// -----
// expected-error@+1 {{an axis without scales}}
func.func @encoding_scales() attributes {a = #memgraph.encoding<nhwc, axis = 1>}
// -----
// expected-error@+1 {{unknown key 'nchw'}}
func.func @encoding_key() attributes {a = #memgraph.encoding<nhwc, nchw>}
// -----
// expected-error@+1 {{is not a finite float32}}
func.func @encoding_infinite() attributes {a = #memgraph.encoding<scale = [1.0e+200], zero_point = [0]>}
// -----
// expected-error@+1 {{key 'scale' given twice}}
func.func @encoding_twice() attributes {a = #memgraph.encoding<scale = [1.0], scale = [2.0], zero_point = [0]>}
// -----
// expected-error@+1 {{key 'pad' given twice}}
func.func @window_twice() attributes {a = #memgraph.window<[1, 1], pad = [0, 0, 1, 1], pad = [0, 0, 0, 0]>}
// -----
// expected-error@+1 {{window: kernel, stride, dilation and pad do not fit together}}
func.func @window_fit() attributes {a = #memgraph.window<[3, 3], stride = [1]>}
// -----
// expected-error@+1 {{window: sizes must be positive, pads not negative}}
func.func @window_positive() attributes {a = #memgraph.window<[3, 0]>}
// -----
// expected-error@+1 {{window: sizes must be positive, pads not negative}}
func.func @window_pad() attributes {a = #memgraph.window<[3, 3], pad = [0, -1, 0, 0]>}
// -----
// expected-error@+1 {{unknown key 'pads'}}
func.func @window_key() attributes {a = #memgraph.window<[3, 3], pads = [0, 0, 0, 0]>}
// -----
// expected-error@+1 {{alias kind 'copy' is not one of: view, inplace, slice}}
func.func @alias_kind() attributes {a = #memgraph.alias<operand = 0, kind = copy>}
// -----
// expected-error@+1 {{alias: negative operand index}}
func.func @alias_operand() attributes {a = #memgraph.alias<operand = -1, kind = view>}
// -----
// expected-error@+1 {{alias: only a slice or a part has a byte offset}}
func.func @alias_offset() attributes {a = #memgraph.alias<operand = 0, kind = view, byte_offset = 4>}
// -----
// expected-error@+1 {{key 'kind' is missing}}
func.func @alias_missing() attributes {a = #memgraph.alias<operand = 0>}
// -----
// expected-error@+1 {{key 'operand' given twice}}
func.func @alias_twice() attributes {a = #memgraph.alias<operand = 0, operand = 0, kind = view>}
// -----
// expected-error@+1 {{a plan in an old form (gathered in #memgraph.unplaced, now virtual): plan the model again}}
func.func @gathered() attributes {a = #memgraph.unplaced<gathered>}
// -----
// expected-error@+1 {{a plan in an old form (gather in #memgraph.alias, now virtual): plan the model again}}
func.func @gather() attributes {a = #memgraph.alias<operand = 0, kind = gather>}
// -----
// expected-error@+1 {{unplaced 'flash' is not one of: constant, caller, runtime}}
func.func @unplaced() attributes {a = #memgraph.unplaced<flash>}
// -----
// expected-error@+1 {{slot: negative offset}}
func.func @slot() attributes {a = #memgraph.slot<dtcm, -16>}
// -----
// expected-error@+1 {{scratch: negative bytes or offset}}
func.func @scratch() attributes {a = #memgraph.scratch<-1>}
// -----
// expected-error@unknown {{target 'avr' is not one of: cortex-m0plus, cortex-m3, cortex-m4, cortex-m7, cortex-m33, cortex-m55, cortex-m85, generic, host, riscv32, riscv32f, tflm}}
func.func @target() attributes {memgraph.model = #memgraph.model<target = avr>} {
  func.return
}
// -----
// expected-error@+1 {{io 'stack' is not one of: arena, kept, caller}}
func.func @io() attributes {a = #memgraph.model<io = stack>}
// -----
// expected-error@+1 {{scratch 'all' is not one of: none, tflm, cmsis-nn}}
func.func @model_scratch() attributes {a = #memgraph.model<scratch = all>}
// -----
// expected-error@+1 {{views 'yes' is not one of: on, off}}
func.func @views() attributes {a = #memgraph.model<views = yes>}
// -----
// expected-error@+1 {{alignment 0 is not within 1 .. 1048576}}
func.func @alignment() attributes {a = #memgraph.model<alignment = 0>}
// -----
// expected-error@+1 {{unknown key 'align', expected one of: target, alignment, io}}
func.func @model_key() attributes {a = #memgraph.model<align = 4>}
// -----
// expected-error@+1 {{proof 'yes' is not one of: flow, search, ilp, none}}
func.func @proof() attributes {a = #memgraph.plan<peak = 1, lower_bound = 1, proof = yes, family = order, fingerprint = "">}
// -----
// expected-error@+1 {{plan: lower_bound must be between 0 and peak}}
func.func @plan_bound() attributes {a = #memgraph.plan<peak = 1, lower_bound = 2, proof = flow, family = order, fingerprint = "">}
// -----
// expected-error@+1 {{plan: arena below arena_lower_bound}}
func.func @plan_arena() attributes {a = #memgraph.plan<peak = 1, lower_bound = 1, proof = flow, family = order, arena = 2, arena_lower_bound = 3, fingerprint = "">}
// -----
// expected-error@+1 {{key 'fingerprint' is missing}}
func.func @plan_missing() attributes {a = #memgraph.plan<peak = 1, lower_bound = 1, proof = flow, family = order>}
// -----
// expected-error@+1 {{plan: lower_bound must be between 0 and peak}}
func.func @plan_negative() attributes {a = #memgraph.plan<peak = -1, lower_bound = -1, proof = flow, family = order, fingerprint = "">}
// -----
// expected-error@+1 {{family 'tiles' is not one of: order, rows}}
func.func @plan_family() attributes {a = #memgraph.plan<peak = 1, lower_bound = 1, proof = flow, family = tiles, fingerprint = "">}
// -----
// expected-error@+1 {{plan: arena must be the sum of the memories' bytes}}
func.func @plan_sum() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 9, arena_lower_bound = 9, memories = [#memgraph.memory<object0, kind = object, bytes = 8>], memories_lower_bound = 8, fingerprint = "">}
// -----
// expected-error@+1 {{plan: arena and memories come together}}
func.func @plan_no_sum() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, memories = [#memgraph.memory<object0, kind = object, bytes = 8>], memories_lower_bound = 8, fingerprint = "">}
// -----
// expected-error@+1 {{plan: memories need different names}}
func.func @plan_twice() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 16, arena_lower_bound = 9, memories = [#memgraph.memory<a, kind = object, bytes = 8>, #memgraph.memory<a, kind = object, bytes = 8>], memories_lower_bound = 8, fingerprint = "">}
// -----
// expected-error@+1 {{plan: memories need different names}}
func.func @plan_no_name() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 8, arena_lower_bound = 8, memories = [#memgraph.memory<"", kind = object, bytes = 8>], memories_lower_bound = 8, fingerprint = "">}
// -----
// expected-error@+1 {{plan: memories of different kinds}}
func.func @plan_kinds() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 16, arena_lower_bound = 9, memories = [#memgraph.memory<a, kind = object, bytes = 8>, #memgraph.memory<b, kind = bank, bytes = 8, capacity = 64, cost = 1, moved = 8>], memories_lower_bound = 8, traffic = #memgraph.traffic<cost = 8, lower_bound = 8, proof = ilp>, fingerprint = "">}
// -----
// expected-error@+1 {{plan: memories_lower_bound must be between 0 and arena}}
func.func @plan_bound_of_objects() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 9, arena_lower_bound = 9, memories = [#memgraph.memory<a, kind = object, bytes = 9>], memories_lower_bound = 10, fingerprint = "">}
// -----
// expected-error@+1 {{plan: memories_lower_bound must be between 0 and arena}}
func.func @plan_no_bound_of_objects() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 9, arena_lower_bound = 9, memories = [#memgraph.memory<a, kind = object, bytes = 9>], fingerprint = "">}
// -----
// expected-error@+1 {{plan: only shared objects have a memories_lower_bound}}
func.func @plan_bound_of_banks() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 9, arena_lower_bound = 9, memories = [#memgraph.memory<a, kind = bank, bytes = 9, capacity = 64, cost = 1, moved = 8>], memories_lower_bound = 9, traffic = #memgraph.traffic<cost = 8, lower_bound = 8, proof = ilp>, fingerprint = "">}
// -----
// expected-error@+1 {{plan: only shared objects have a memories_lower_bound}}
func.func @plan_bound_of_an_arena() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 9, arena_lower_bound = 9, memories_lower_bound = 9, fingerprint = "">}
// -----
// expected-error@+1 {{plan: banks and traffic come together}}
func.func @plan_no_traffic() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 9, arena_lower_bound = 9, memories = [#memgraph.memory<a, kind = bank, bytes = 9, capacity = 64, cost = 1, moved = 8>], fingerprint = "">}
// -----
// expected-error@+1 {{plan: banks and traffic come together}}
func.func @plan_traffic() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 9, arena_lower_bound = 9, traffic = #memgraph.traffic<cost = 8, lower_bound = 8, proof = ilp>, fingerprint = "">}
// -----
// expected-error@+1 {{expected a list of #memgraph.memory of kind object or bank}}
func.func @plan_arena_in_a_list() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 9, arena_lower_bound = 9, memories = [#memgraph.memory<arena, kind = arena, bytes = 9>], fingerprint = "">}
// -----
// expected-error@+1 {{expected a list of #memgraph.memory of kind object or bank}}
func.func @plan_empty_list() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, arena = 0, arena_lower_bound = 0, memories = [], fingerprint = "">}
// -----
// expected-error@+1 {{expected a #memgraph.traffic}}
func.func @plan_no_such_traffic() attributes {a = #memgraph.plan<peak = 9, lower_bound = 9, proof = flow, family = order, traffic = 8, fingerprint = "">}
// -----
// expected-error@+1 {{memory a: kind 'heap' is not one of: arena, object, bank}}
func.func @memory_kind() attributes {a = #memgraph.memory<a, kind = heap, bytes = 8>}
// -----
// expected-error@+1 {{key 'capacity' is missing}}
func.func @memory_bank() attributes {a = #memgraph.memory<a, kind = bank, bytes = 8, cost = 1, moved = 8>}
// -----
// expected-error@+1 {{memory a: only a bank has moved}}
func.func @memory_object() attributes {a = #memgraph.memory<a, kind = object, bytes = 8, moved = 8>}
// -----
// expected-error@+1 {{memory a: -8 is negative}}
func.func @memory_negative() attributes {a = #memgraph.memory<a, kind = object, bytes = -8>}
// -----
// expected-error@+1 {{memory a: -1 is negative}}
func.func @memory_negative_cost() attributes {a = #memgraph.memory<a, kind = bank, bytes = 8, capacity = 8, cost = -1, moved = 8>}
// -----
// expected-error@+1 {{traffic: lower_bound must be between 0 and cost}}
func.func @traffic_bound() attributes {a = #memgraph.traffic<cost = 8, lower_bound = 9, proof = ilp>}
// -----
// expected-error@+1 {{proof 'flow' is not one of: ilp, none}}
func.func @traffic_proof() attributes {a = #memgraph.traffic<cost = 8, lower_bound = 8, proof = flow>}
// -----
// expected-error@+1 {{objective 'trafic' (did you mean traffic?) is not one of: traffic}}
func.func @off_chip_objective() attributes {a = #memgraph.off_chip<on_chip = 8, rule = belady, moved = 8, lower_bound = 8, proof = none, objective = trafic>}
// -----
// expected-error@+1 {{off_chip: orders_lower_bound must be at most lower_bound}}
func.func @off_chip_orders() attributes {a = #memgraph.off_chip<on_chip = 8, rule = belady, moved = 8, lower_bound = 4, proof = none, objective = traffic, orders_lower_bound = 5>}
// -----
// expected-error@+1 {{off_chip: orders_lower_bound needs objective = traffic}}
func.func @off_chip_no_objective() attributes {a = #memgraph.off_chip<on_chip = 8, rule = belady, moved = 8, lower_bound = 8, proof = none, orders_lower_bound = 5>}
// -----
// expected-error@+1 {{alias: only a slice has strides}}
func.func @part_strides() attributes {a = #memgraph.alias<operand = 0, kind = part, byte_offset = 4, strides = [8]>}
// -----
// expected-error@+1 {{channels: 4 is no next one of 4}}
func.func @channels_outside() attributes {a = #memgraph.channels<4, left_out = [4 [0, 0] unread]>}
// -----
// expected-error@+1 {{channels: 1 is no next one of 4}}
func.func @channels_twice() attributes {a = #memgraph.channels<4, left_out = [1 [0, 0] unread, 1 [0, 0] unread]>}
// -----
// expected-error@+1 {{channels: [1, 0] is empty}}
func.func @channels_empty() attributes {a = #memgraph.channels<4, left_out = [1 [1, 0] unread]>}
// -----
// expected-error@+1 {{reason 'dead' is not one of: zero_weights, constant_inputs, interval, unread}}
func.func @channels_reason() attributes {a = #memgraph.channels<4, left_out = [1 [0, 0] dead]>}
// -----
// expected-error@+1 {{channels: none is left}}
func.func @channels_none() attributes {a = #memgraph.channels<1, left_out = [0 [0, 0] unread]>}
// -----
func.func @take_order(%w: tensor<4x3xi8>) {
  // expected-error@+1 {{[2, 0] are no rising indices of 3}}
  %0 = memgraph.take %w axis 1 kept [2, 0] : (tensor<4x3xi8>) -> tensor<4x2xi8>
  func.return
}
// -----
func.func @take_shape(%w: tensor<4x3xi8>) {
  // expected-error@+1 {{the result's shape must be (4, 2)}}
  %0 = memgraph.take %w axis 1 kept [0, 2] : (tensor<4x3xi8>) -> tensor<4x3xi8>
  func.return
}
// -----
func.func @take_scales(%w: tensor<2x3xi8, #memgraph.encoding<scale = [1.0e-01, 2.0e-01], zero_point = [0], axis = 0>>) {
  // expected-error@+1 {{the result's scales are not those that are kept}}
  %0 = memgraph.take %w axis 0 kept [1] : (tensor<2x3xi8, #memgraph.encoding<scale = [1.0e-01, 2.0e-01], zero_point = [0], axis = 0>>) -> tensor<1x3xi8, #memgraph.encoding<scale = [1.0e-01], zero_point = [0], axis = 0>>
  func.return
}
// -----
func.func @fold_values(%w: tensor<4x3xi8>) {
  // expected-error@+1 {{2 values for 3 channels}}
  %0 = memgraph.fold_into_bias %w axis 1 values [1, 2] : (tensor<4x3xi8>) -> tensor<4xi32>
  func.return
}
// -----
func.func @fold_bias(%w: tensor<4x3xi8>, %b: tensor<3xi32>) {
  // expected-error@+1 {{a bias of 3 for 4 filters}}
  %0 = memgraph.fold_into_bias %w, %b axis 1 values [1, 2, 3] : (tensor<4x3xi8>, tensor<3xi32>) -> tensor<4xi32>
  func.return
}
// -----
// expected-error@+1 {{rewritten: a figure before and one after}}
func.func @rewritten_pair() attributes {a = #memgraph.rewritten<"gather", sites = 1, peak = [1]>}
// -----
// expected-error@+1 {{'flash' is no other key of what a rule did}}
func.func @rewritten_key() attributes {a = #memgraph.rewritten<"gather", flash = 1>}
// -----
// expected-error@+1 {{'sites' is no other key of what a rule did}}
func.func @rewritten_twice() attributes {a = #memgraph.rewritten<"gather", sites = 1, sites = 1>}
// -----
func.func @renamed(%x: tensor<1x8x8x4xf32>) {
  // expected-error@+1 {{a plan in an old form (memgraph.rows, now memgraph.split_rows): plan the model again, such as memopt-opt MODEL --schedule=auto --rows=auto --place=auto -o PLAN.mlir}}
  %0 = memgraph.rows %x : tensor<1x8x8x4xf32>
  func.return
}
// -----
func.func @renamed_kernel(%x: tensor<1x8x8x4xf32>) {
  // expected-error@+1 {{a plan in an old form (memgraph.row_op, now memgraph.row_kernel)}}
  %0 = memgraph.row_op (%x: tensor<1x8x8x4xf32>) {
  }
  func.return
}
// -----
func.func @unknown(%x: tensor<1x8x8x4xf32>) {
  // expected-error@+1 {{Operation memgraph.conv_2 is not registered (did you mean memgraph.conv_2d?)}}
  %0 = memgraph.conv_2 %x : tensor<1x8x8x4xf32>
  func.return
}
// -----
func.func @permuted_groups(%x: tensor<1x4x4x6xf32>) {
  // expected-error@+1 {{memgraph.channel_permutation: 6 channels in 4 groups}}
  %0 = memgraph.channel_permutation %x groups 4 : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  func.return
}
// -----
func.func @permuted_in_no_group(%x: tensor<1x4x4x6xf32>) {
  // expected-error@+1 {{memgraph.channel_permutation: 6 channels in 0 groups}}
  %0 = memgraph.channel_permutation %x groups 0 : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  func.return
}
// -----
func.func @permuted_shape(%x: tensor<1x4x4x6xf32>) {
  // expected-error@+1 {{memgraph.channel_permutation: shapes differ}}
  %0 = memgraph.channel_permutation %x groups 2 : (tensor<1x4x4x6xf32>) -> tensor<1x4x6x4xf32>
  func.return
}
// -----
func.func @table_of_two(%x: tensor<1x4xi8>) {
  // expected-error@+1 {{memgraph.lookup: a table of 256 entries is needed, not of 2}}
  %0 = memgraph.lookup %x table [1, 2] : (tensor<1x4xi8>) -> tensor<1x4xi8>
  func.return
}
// -----
func.func @table_of_words(%x: tensor<1x4xi16>) {
  // expected-error@+1 {{memgraph.lookup: a tensor of bytes is needed}}
  %0 = memgraph.lookup %x table [1, 2] : (tensor<1x4xi16>) -> tensor<1x4xi8>
  func.return
}
// -----
func.func @table_of_shapes(%x: tensor<1x4xi8>) {
  // expected-error@+1 {{memgraph.lookup: shapes differ}}
  %0 = memgraph.lookup %x table [1, 2] : (tensor<1x4xi8>) -> tensor<4xi8>
  func.return
}
// -----
func.func @permuted_layout(%x: tensor<1x4x4x6xf32>) {
  // expected-error@+1 {{memgraph.channel_permutation: layouts differ}}
  %0 = memgraph.channel_permutation %x groups 2 : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32, #memgraph.encoding<nchw>>
  func.return
}
// -----
func.func @statistics_groups(%x: tensor<1x4x4x6xf32>) {
  // expected-error@+1 {{memgraph.group_statistics: 6 channels in 4 groups}}
  %0 = memgraph.group_statistics %x groups 4 : (tensor<1x4x4x6xf32>) -> tensor<2x4xf32>
  func.return
}
// -----
func.func @statistics_rank(%x: tensor<4x4x6xf32>) {
  // expected-error@+1 {{memgraph.group_statistics: (4, 4, 6) is no image}}
  %0 = memgraph.group_statistics %x groups 2 : (tensor<4x4x6xf32>) -> tensor<2x2xf32>
  func.return
}
// -----
func.func @statistics_of_nothing(%x: tensor<1x0x4x6xf32>) {
  // expected-error@+1 {{memgraph.group_statistics: an image without elements}}
  %0 = memgraph.group_statistics %x groups 2 : (tensor<1x0x4x6xf32>) -> tensor<2x2xf32>
  func.return
}
// -----
func.func @statistics_shape(%x: tensor<1x4x4x6xf32>) {
  // expected-error@+1 {{memgraph.group_statistics: the result's shape must be (2, 2)}}
  %0 = memgraph.group_statistics %x groups 2 : (tensor<1x4x4x6xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @grouped_rank(%x: tensor<2x4x4x6xf32>, %s: tensor<2x2xf32>) {
  // expected-error@+1 {{memgraph.group_normalization: (2, 4, 4, 6) is no image}}
  %0 = memgraph.group_normalization %x, %s epsilon 0.1 : (tensor<2x4x4x6xf32>, tensor<2x2xf32>) -> tensor<2x4x4x6xf32>
  func.return
}
// -----
func.func @grouped_shape(%x: tensor<1x4x4x6xf32>, %s: tensor<2x2xf32>) {
  // expected-error@+1 {{memgraph.group_normalization: the result's shape must be (1, 4, 4, 6)}}
  %0 = memgraph.group_normalization %x, %s epsilon 0.1 : (tensor<1x4x4x6xf32>, tensor<2x2xf32>) -> tensor<1x4x6x4xf32>
  func.return
}
// -----
func.func @grouped_layout(%x: tensor<1x4x4x6xf32>, %s: tensor<2x2xf32>) {
  // expected-error@+1 {{memgraph.group_normalization: layouts differ}}
  %0 = memgraph.group_normalization %x, %s epsilon 0.1 : (tensor<1x4x4x6xf32>, tensor<2x2xf32>) -> tensor<1x4x4x6xf32, #memgraph.encoding<nchw>>
  func.return
}
// -----
func.func @grouped_statistics(%x: tensor<1x4x4x6xf32>, %s: tensor<3x2xf32>) {
  // expected-error@+1 {{memgraph.group_normalization: (3, 2) are no statistics}}
  %0 = memgraph.group_normalization %x, %s epsilon 0.1 : (tensor<1x4x4x6xf32>, tensor<3x2xf32>) -> tensor<1x4x4x6xf32>
  func.return
}
// -----
func.func @grouped_groups(%x: tensor<1x4x4x6xf32>, %s: tensor<2x4xf32>) {
  // expected-error@+1 {{memgraph.group_normalization: 6 channels in 4 groups}}
  %0 = memgraph.group_normalization %x, %s epsilon 0.1 : (tensor<1x4x4x6xf32>, tensor<2x4xf32>) -> tensor<1x4x4x6xf32>
  func.return
}
// -----
func.func @grouped_terms(%x: tensor<1x4x4x6xf32>, %s: tensor<2x2xf32>, %c: tensor<6xf32>) {
  // expected-error@+1 {{memgraph.group_normalization: a scale and a shift at most}}
  %0 = memgraph.group_normalization %x, %s, %c, %c, %c epsilon 0.1 : (tensor<1x4x4x6xf32>, tensor<2x2xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x4x4x6xf32>
  func.return
}
// -----
func.func @grouped_scale(%x: tensor<1x4x4x6xf32>, %s: tensor<2x2xf32>) {
  // expected-error@+1 {{memgraph.group_normalization: scale and shift of shape (6,), not (2, 2)}}
  %0 = memgraph.group_normalization %x, %s, %s epsilon 0.1 : (tensor<1x4x4x6xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<1x4x4x6xf32>
  func.return
}
// -----
func.func @normalized_axis(%x: tensor<1x4x6xf32>) {
  // expected-error@+1 {{memgraph.layer_normalization: axis 3 out of range}}
  %0 = memgraph.layer_normalization %x axis 3 epsilon 0.1 : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  func.return
}
// -----
func.func @normalized_shape(%x: tensor<1x4x6xf32>) {
  // expected-error@+1 {{memgraph.layer_normalization: shapes differ}}
  %0 = memgraph.layer_normalization %x axis 2 epsilon 0.1 : (tensor<1x4x6xf32>) -> tensor<1x6x4xf32>
  func.return
}
// -----
func.func @normalized_scale(%x: tensor<1x4x6xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{memgraph.layer_normalization: scale and shift of shape (6,), not (4,)}}
  %0 = memgraph.layer_normalization %x, %s axis 2 epsilon 0.1 : (tensor<1x4x6xf32>, tensor<4xf32>) -> tensor<1x4x6xf32>
  func.return
}
// -----
func.func @normalized_terms(%x: tensor<1x4x6xf32>, %s: tensor<6xf32>) {
  // expected-error@+1 {{memgraph.layer_normalization: a scale and a shift at most}}
  %0 = memgraph.layer_normalization %x, %s, %s, %s axis 2 epsilon 0.1 : (tensor<1x4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x4x6xf32>
  func.return
}
// -----
func.func @normalized_form(%x: tensor<1x4x6xf32>) {
  // expected-error@+1 {{memgraph.layer_normalization: no form product}}
  %0 = memgraph.layer_normalization %x axis 2 epsilon 0.1 form "product" : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  func.return
}
// -----
func.func @normalized_nothing(%x: tensor<1x4x0xf32>) {
  // expected-error@+1 {{memgraph.layer_normalization: vectors without elements}}
  %0 = memgraph.layer_normalization %x axis 2 epsilon 0.1 : (tensor<1x4x0xf32>) -> tensor<1x4x0xf32>
  func.return
}
// -----
func.func @attention_heads(%x: tensor<1x3x4xf32>, %m: tensor<3x4xf32>, %z: tensor<1x3x6xf32>) {
  // expected-error@+1 {{memgraph.attention: 0 heads of 0}}
  %0 = memgraph.attention %x, %x, %x heads 0 scale 1.0 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return
}
// -----
func.func @attention_groups(%x: tensor<1x3x4xf32>, %m: tensor<3x4xf32>, %z: tensor<1x3x6xf32>) {
  // expected-error@+1 {{memgraph.attention: 4 heads of 3}}
  %0 = memgraph.attention %x, %x, %x heads 4 kv_heads 3 scale 1.0 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return
}
// -----
func.func @attention_rank(%x: tensor<1x3x4xf32>, %m: tensor<3x4xf32>, %z: tensor<1x3x6xf32>) {
  // expected-error@+1 {{memgraph.attention: [1, places, channels]}}
  %0 = memgraph.attention %m, %x, %x heads 2 scale 1.0 : (tensor<3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return
}
// -----
func.func @attention_depth(%x: tensor<1x3x4xf32>, %m: tensor<3x4xf32>, %z: tensor<1x3x6xf32>) {
  // expected-error@+1 {{memgraph.attention: (1, 3, 4), (1, 3, 6) and (1, 3, 4) do not fit}}
  %0 = memgraph.attention %x, %z, %x heads 2 scale 1.0 : (tensor<1x3x4xf32>, tensor<1x3x6xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return
}
// -----
func.func @attention_result(%x: tensor<1x3x4xf32>, %m: tensor<3x4xf32>, %z: tensor<1x3x6xf32>) {
  // expected-error@+1 {{memgraph.attention: the result's shape must be (1, 3, 4)}}
  %0 = memgraph.attention %x, %x, %x heads 2 scale 1.0 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x6xf32>
  func.return
}
// -----
func.func @attention_mask(%x: tensor<1x3x4xf32>, %m: tensor<3x4xf32>, %z: tensor<1x3x6xf32>) {
  // expected-error@+1 {{memgraph.attention: the mask's shape must be (1, 3, 3)}}
  %0 = memgraph.attention %x, %x, %x, %x heads 2 scale 1.0 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return
}
// -----
func.func @attention_causal(%x: tensor<1x3x4xf32>) {
  // expected-error@+1 {{memgraph.attention: a query without keys}}
  %0 = memgraph.attention %x, %x, %x heads 2 scale 1.0 causal -1 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return
}
// -----
func.func @attention_parts(%x: tensor<1x3x4xf32>) {
  // expected-error@+1 {{memgraph.attention: types of scores and of parts}}
  %0 = memgraph.attention %x, %x, %x heads 2 scale 1.0 scores tensor<i8, #memgraph.encoding<scale = [1.0], zero_point = [0]>> : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return
}
// -----
func.func @attention_scaled(%x: tensor<1x3x4xf32>) {
  // expected-error@+1 {{memgraph.attention: a type of scaled scores, none of scores}}
  %0 = memgraph.attention %x, %x, %x heads 2 scale 1.0 scaled tensor<i8, #memgraph.encoding<scale = [1.0], zero_point = [0]>> : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return
}
// -----
func.func @layer_rank(%x: tensor<1x4x2xf32>, %w: tensor<3x2xf32>, %r: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: a sequence has three dimensions}}
  %0 = memgraph.rnn_layer %w, %w, %r, %b activation<tanh> : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  func.return
}
// -----
func.func @layer_steps(%x: tensor<1x4x2xf32>, %w: tensor<3x2xf32>, %r: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: the result has other steps or batches}}
  %0 = memgraph.rnn_layer %x, %w, %r, %b activation<tanh> : (tensor<1x4x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<1x5x3xf32>
  func.return
}
// -----
func.func @layer_vectors(%x: tensor<1x4x2xf32>, %w: tensor<3x2xf32>, %r: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: a result of other than 1 vectors}}
  %0 = memgraph.rnn_layer %x, %w, %r, %b activation<tanh> : (tensor<1x4x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<1x4x6xf32>
  func.return
}
// -----
func.func @layer_input(%x: tensor<1x4x2xf32>, %w: tensor<3x2xf32>, %r: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: weights of another input}}
  %0 = memgraph.rnn_layer %x, %r, %r, %b activation<tanh> : (tensor<1x4x2xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<1x4x3xf32>
  func.return
}
// -----
func.func @layer_units(%x: tensor<1x4x2xf32>, %w: tensor<3x2xf32>, %r: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.lstm_layer: weights of another input}}
  %0 = memgraph.lstm_layer %x, %w, %r, %b : (tensor<1x4x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<1x4x6xf32>
  func.return
}
// -----
func.func @layer_again(%x: tensor<1x4x2xf32>, %w: tensor<3x2xf32>, %r: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: weights of other units}}
  %0 = memgraph.rnn_layer %x, %w, %s, %b activation<tanh> : (tensor<1x4x2xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<1x4x3xf32>
  func.return
}
// -----
func.func @layer_bias(%x: tensor<1x4x2xf32>, %w: tensor<3x2xf32>, %r: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: a bias of other units}}
  %0 = memgraph.rnn_layer %x, %w, %r, %r activation<tanh> : (tensor<1x4x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<1x4x3xf32>
  func.return
}
// -----
func.func @layer_initial(%x: tensor<1x4x2xf32>, %w: tensor<3x2xf32>, %r: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: an initial state of another size}}
  %0 = memgraph.rnn_layer %x, %w, %r, %b initial %s activation<tanh> : (tensor<1x4x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<1x4x3xf32>
  func.return
}
// -----
func.func @layer_clip(%x: tensor<1x4x2xf32>, %w: tensor<3x2xf32>, %r: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: a clip above zero}}
  %0 = memgraph.rnn_layer %x, %w, %r, %b clip -1.0 activation<tanh> : (tensor<1x4x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<1x4x3xf32>
  func.return
}
// -----
func.func @layer_activation(%x: tensor<1x4x2xf32>, %w: tensor<3x2xf32>, %r: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: tanh or relu as activation}}
  %0 = memgraph.rnn_layer %x, %w, %r, %b activation<relu6> : (tensor<1x4x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<1x4x3xf32>
  func.return
}
// -----
!q = tensor<3x2xi8, #memgraph.encoding<scale = [0.5], zero_point = [0]>>
func.func @layer_one_stored(%x: tensor<1x4x2xf32>, %w: !q, %r: tensor<3x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: one of two weights is stored}}
  %0 = memgraph.rnn_layer %x, %w, %r, %b activation<tanh> : (tensor<1x4x2xf32>, !q, tensor<3x3xf32>, tensor<3xf32>) -> tensor<1x4x3xf32>
  func.return
}
// -----
!q = tensor<3x2xi16, #memgraph.encoding<scale = [0.5], zero_point = [0]>>
!r = tensor<3x3xi8, #memgraph.encoding<scale = [0.5], zero_point = [0]>>
func.func @layer_wide_weights(%x: tensor<1x4x2xf32>, %w: !q, %r: !r, %b: tensor<3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: stored weights of 8 bits}}
  %0 = memgraph.rnn_layer %x, %w, %r, %b activation<tanh> : (tensor<1x4x2xf32>, !q, !r, tensor<3xf32>) -> tensor<1x4x3xf32>
  func.return
}
// -----
!q = tensor<3x2xi8, #memgraph.encoding<scale = [0.5, 1.0], zero_point = [0, 0], axis = 1>>
!r = tensor<3x3xi8, #memgraph.encoding<scale = [0.5], zero_point = [0]>>
func.func @layer_scales(%x: tensor<1x4x2xf32>, %w: !q, %r: !r, %b: tensor<3xf32>) {
  // expected-error@+1 {{memgraph.rnn_layer: a scale, or one for each row}}
  %0 = memgraph.rnn_layer %x, %w, %r, %b activation<tanh> : (tensor<1x4x2xf32>, !q, !r, tensor<3xf32>) -> tensor<1x4x3xf32>
  func.return
}
