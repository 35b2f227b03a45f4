"builtin.module"() <{sym_name = "jit_forms"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x8x8x2xf32>, tensor<2x3x3xf32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<3x2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<1x8x8x2xf32>, %arg1: tensor<2x3x3xf32>, %arg2: tensor<i32>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x2x4xf32>
    %2 = "stablehlo.convolution"(%arg0, %1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 0], [2, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 1>}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x7x4xf32>
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x7x4xf32>
    %5 = "stablehlo.compare"(%2, %4) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<1x4x7x4xf32>, tensor<1x4x7x4xf32>) -> tensor<1x4x7x4xi1>
    %6 = "stablehlo.tanh"(%2) : (tensor<1x4x7x4xf32>) -> tensor<1x4x7x4xf32>
    %7 = "stablehlo.select"(%5, %2, %6) : (tensor<1x4x7x4xi1>, tensor<1x4x7x4xf32>, tensor<1x4x7x4xf32>) -> tensor<1x4x7x4xf32>
    %8 = "stablehlo.slice"(%7) <{limit_indices = array<i64: 1, 4, 6, 4>, start_indices = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 2, 3, 1>}> : (tensor<1x4x7x4xf32>) -> tensor<1x2x2x4xf32>
    %9 = "stablehlo.reshape"(%8) : (tensor<1x2x2x4xf32>) -> tensor<4x4xf32>
    %10 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.pad"(%9, %10) <{edge_padding_high = array<i64: 1, 0>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 2>}> : (tensor<4x4xf32>, tensor<f32>) -> tensor<5x11xf32>
    %12 = "stablehlo.reverse"(%11) <{dimensions = array<i64: 0>}> : (tensor<5x11xf32>) -> tensor<5x11xf32>
    %13 = "stablehlo.concatenate"(%11, %12) <{dimension = 0 : i64}> : (tensor<5x11xf32>, tensor<5x11xf32>) -> tensor<10x11xf32>
    %14 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %15 = "stablehlo.compare"(%arg2, %14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %16 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    %17 = "stablehlo.add"(%arg2, %16) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %18 = "stablehlo.select"(%15, %17, %arg2) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %19 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.compare"(%arg2, %19) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %21 = "stablehlo.constant"() <{value = dense<11> : tensor<i32>}> : () -> tensor<i32>
    %22 = "stablehlo.add"(%arg2, %21) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %23 = "stablehlo.select"(%20, %22, %arg2) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %24 = "stablehlo.dynamic_slice"(%13, %18, %23) <{slice_sizes = array<i64: 2, 3>}> : (tensor<10x11xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %25 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xf32>
    %26 = "stablehlo.add"(%24, %25) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %27 = "stablehlo.dot_general"(%arg1, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %28 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.reduce"(%27, %28) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %37 = "stablehlo.maximum"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%37) : (tensor<f32>) -> ()
    }) : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %30 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %31 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
    %33 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
    %34 = "stablehlo.clamp"(%32, %26, %33) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %35 = "stablehlo.transpose"(%27) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x3xf32>) -> tensor<3x2x3xf32>
    %36 = "stablehlo.convert"(%26) : (tensor<2x3xf32>) -> tensor<2x3xi32>
    "func.return"(%34, %35, %29, %36) : (tensor<2x3xf32>, tensor<3x2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
