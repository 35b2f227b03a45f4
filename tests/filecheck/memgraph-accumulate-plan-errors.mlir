// Who adds up what, in which order and where: the verifier's own reading of any plan.
// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-verify-plan{placed=true}" %s

// expected-error@unknown {{reals are added up in another order than that of the operands}}
!a0 = tensor<1x4x4x1xf32, #memgraph.encoding<nhwc>>
!a1 = tensor<1x4x4x4xf32, #memgraph.encoding<nhwc>>
!w0 = tensor<4x1x1x1xf32, #memgraph.encoding<ohwi>>
!w1 = tensor<1x1x1x8xf32, #memgraph.encoding<ohwi>>
!w2 = tensor<1x1x1x4xf32, #memgraph.encoding<ohwi>>
  func.func @another_order(%x: !a0 {memgraph.offset = 256 : i64}) -> !a0 attributes {memgraph.model = #memgraph.model<target = generic, alignment = 1, io = arena, views = on, inplace = off, scratch = none>, memgraph.rewrites = [#memgraph.rewritten<"channel-wise", sites = 1, peak = [1024, 384] proven>], memgraph.plan = #memgraph.plan<peak = 384, lower_bound = 384, proof = flow, family = order, arena = 384, arena_lower_bound = 384, fingerprint = "8a5132beecb0a4d5a130a8d09c92551d">} {
    %k = memgraph.constant dense<1.000000e+00> : !w0 {memgraph.offset = [#memgraph.unplaced<constant>]}
    %a = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (!a0, !w0) -> !a1
    %w = memgraph.constant dense<5.000000e-01> : !w1 {memgraph.offset = [#memgraph.unplaced<constant>]}
    %0 = memgraph.slice %w starts [0, 0, 0, 0] strides [1, 1, 1, 1] {memgraph.offset = [#memgraph.unplaced<constant>]} : (!w1) -> !w2
    %1 = memgraph.conv_2d %a, %0 window<[1, 1]> groups 1 {memgraph.order = 1 : i64, memgraph.offset = [320 : i64]} : (!a1, !w2) -> !a0
    %b = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 activation<relu> {memgraph.order = 2 : i64, memgraph.offset = [0 : i64]} : (!a0, !w0) -> !a1
    %2 = memgraph.slice %w starts [0, 0, 0, 4] strides [1, 1, 1, 1] {memgraph.offset = [#memgraph.unplaced<constant>]} : (!w1) -> !w2
    %3 = memgraph.conv_2d %b, %2 window<[1, 1]> groups 1 {memgraph.order = 3 : i64, memgraph.offset = [320 : i64]} : (!a1, !w2) -> !a0
    %y = memgraph.accumulate %3, %1 activation<relu> {memgraph.names = ["y"], memgraph.offset = [320 : i64]} : (!a0, !a0) -> !a0
    func.return %y : !a0
  }
// -----
// expected-error@unknown {{conv_2d#0 is added to conv_2d#0 but lies elsewhere}}
!a0 = tensor<1x4x4x1xf32, #memgraph.encoding<nhwc>>
!a1 = tensor<1x4x4x4xf32, #memgraph.encoding<nhwc>>
!w0 = tensor<4x1x1x1xf32, #memgraph.encoding<ohwi>>
!w1 = tensor<1x1x1x8xf32, #memgraph.encoding<ohwi>>
!w2 = tensor<1x1x1x4xf32, #memgraph.encoding<ohwi>>
  func.func @elsewhere(%x: !a0 {memgraph.offset = 256 : i64}) -> !a0 attributes {memgraph.model = #memgraph.model<target = generic, alignment = 1, io = arena, views = on, inplace = off, scratch = none>, memgraph.rewrites = [#memgraph.rewritten<"channel-wise", sites = 1, peak = [1024, 384] proven>], memgraph.plan = #memgraph.plan<peak = 384, lower_bound = 384, proof = flow, family = order, arena = 384, arena_lower_bound = 384, fingerprint = "8a5132beecb0a4d5a130a8d09c92551d">} {
    %k = memgraph.constant dense<1.000000e+00> : !w0 {memgraph.offset = [#memgraph.unplaced<constant>]}
    %a = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (!a0, !w0) -> !a1
    %w = memgraph.constant dense<5.000000e-01> : !w1 {memgraph.offset = [#memgraph.unplaced<constant>]}
    %0 = memgraph.slice %w starts [0, 0, 0, 0] strides [1, 1, 1, 1] {memgraph.offset = [#memgraph.unplaced<constant>]} : (!w1) -> !w2
    %1 = memgraph.conv_2d %a, %0 window<[1, 1]> groups 1 {memgraph.order = 1 : i64, memgraph.offset = [384 : i64]} : (!a1, !w2) -> !a0
    %b = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 activation<relu> {memgraph.order = 2 : i64, memgraph.offset = [0 : i64]} : (!a0, !w0) -> !a1
    %2 = memgraph.slice %w starts [0, 0, 0, 4] strides [1, 1, 1, 1] {memgraph.offset = [#memgraph.unplaced<constant>]} : (!w1) -> !w2
    %3 = memgraph.conv_2d %b, %2 window<[1, 1]> groups 1 {memgraph.order = 3 : i64, memgraph.offset = [320 : i64]} : (!a1, !w2) -> !a0
    %y = memgraph.accumulate %1, %3 activation<relu> {memgraph.names = ["y"], memgraph.offset = [320 : i64]} : (!a0, !a0) -> !a0
    func.return %y : !a0
  }
// -----
// expected-error@unknown {{conv_2d#0 is added to conv_2d#0 but lies elsewhere}}
!a0 = tensor<1x4x4x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!a1 = tensor<1x4x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!a2 = tensor<1x4x4x1xi32, #memgraph.encoding<nhwc>>
!w0 = tensor<4x1x1x1xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!w1 = tensor<1x1x1x8xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!w2 = tensor<1x1x1x4xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
  func.func @elsewhere(%x: !a0 {memgraph.offset = 128 : i64}) -> !a0 attributes {memgraph.model = #memgraph.model<target = generic, alignment = 1, io = arena, views = on, inplace = off, scratch = none>, memgraph.rewrites = [#memgraph.rewritten<"channel-wise", sites = 1, peak = [256, 144] proven>], memgraph.plan = #memgraph.plan<peak = 144, lower_bound = 144, proof = search, family = order, arena = 144, arena_lower_bound = 144, fingerprint = "cb80bb191ff3aaed5c1c84ab67a158d8">} {
    %k = memgraph.constant dense<1> : !w0 {memgraph.offset = [#memgraph.unplaced<constant>]}
    %a = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 rounding<tflm_double> {memgraph.order = 0 : i64, memgraph.offset = [64 : i64]} : (!a0, !w0) -> !a1
    %w = memgraph.constant dense<2> : !w1 {memgraph.offset = [#memgraph.unplaced<constant>]}
    %0 = memgraph.slice %w starts [0, 0, 0, 0] strides [1, 1, 1, 1] {memgraph.offset = [#memgraph.unplaced<constant>]} : (!w1) -> !w2
    %1 = memgraph.conv_2d %a, %0 window<[1, 1]> groups 1 rounding<tflm_double> {memgraph.order = 1 : i64, memgraph.offset = [0 : i64]} : (!a1, !w2) -> !a2
    %b = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 activation<relu> rounding<tflm_double> {memgraph.order = 2 : i64, memgraph.offset = [64 : i64]} : (!a0, !w0) -> !a1
    %2 = memgraph.slice %w starts [0, 0, 0, 4] strides [1, 1, 1, 1] {memgraph.offset = [#memgraph.unplaced<constant>]} : (!w1) -> !w2
    %3 = memgraph.conv_2d %b, %2 window<[1, 1]> groups 1 rounding<tflm_double> {memgraph.order = 3 : i64, memgraph.offset = [128 : i64]} : (!a1, !w2) -> !a2
    %y = memgraph.accumulate %1, %3 input<nhwc, scale = [5.0e-01], zero_point = [3]> weights<ohwi, scale = [1.0e-01], zero_point = [0]> activation<relu> rounding<tflm_double> {memgraph.names = ["y"], memgraph.order = 4 : i64, memgraph.offset = [64 : i64]} : (!a2, !a2) -> !a0
    func.return %y : !a0
  }
// -----
// expected-error@unknown {{b at [32, 96) overwrites}}
!a0 = tensor<1x4x4x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!a1 = tensor<1x4x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!a2 = tensor<1x4x4x1xi32, #memgraph.encoding<nhwc>>
!w0 = tensor<4x1x1x1xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!w1 = tensor<1x1x1x8xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!w2 = tensor<1x1x1x4xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
  func.func @between(%x: !a0 {memgraph.offset = 128 : i64}) -> !a0 attributes {memgraph.model = #memgraph.model<target = generic, alignment = 1, io = arena, views = on, inplace = off, scratch = none>, memgraph.rewrites = [#memgraph.rewritten<"channel-wise", sites = 1, peak = [256, 144] proven>], memgraph.plan = #memgraph.plan<peak = 144, lower_bound = 144, proof = search, family = order, arena = 144, arena_lower_bound = 144, fingerprint = "cb80bb191ff3aaed5c1c84ab67a158d8">} {
    %k = memgraph.constant dense<1> : !w0 {memgraph.offset = [#memgraph.unplaced<constant>]}
    %a = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 rounding<tflm_double> {memgraph.order = 0 : i64, memgraph.offset = [64 : i64]} : (!a0, !w0) -> !a1
    %w = memgraph.constant dense<2> : !w1 {memgraph.offset = [#memgraph.unplaced<constant>]}
    %0 = memgraph.slice %w starts [0, 0, 0, 0] strides [1, 1, 1, 1] {memgraph.offset = [#memgraph.unplaced<constant>]} : (!w1) -> !w2
    %1 = memgraph.conv_2d %a, %0 window<[1, 1]> groups 1 rounding<tflm_double> {memgraph.order = 1 : i64, memgraph.offset = [0 : i64]} : (!a1, !w2) -> !a2
    %b = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 activation<relu> rounding<tflm_double> {memgraph.order = 2 : i64, memgraph.offset = [32 : i64]} : (!a0, !w0) -> !a1
    %2 = memgraph.slice %w starts [0, 0, 0, 4] strides [1, 1, 1, 1] {memgraph.offset = [#memgraph.unplaced<constant>]} : (!w1) -> !w2
    %3 = memgraph.conv_2d %b, %2 window<[1, 1]> groups 1 rounding<tflm_double> {memgraph.order = 3 : i64, memgraph.offset = [0 : i64]} : (!a1, !w2) -> !a2
    %y = memgraph.accumulate %1, %3 input<nhwc, scale = [5.0e-01], zero_point = [3]> weights<ohwi, scale = [1.0e-01], zero_point = [0]> activation<relu> rounding<tflm_double> {memgraph.names = ["y"], memgraph.order = 4 : i64, memgraph.offset = [64 : i64]} : (!a2, !a2) -> !a0
    func.return %y : !a0
  }
