module @jit_forms attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x8x8x2xf32>, %arg1: tensor<2x3x3xf32>, %arg2: tensor<i32>) -> (tensor<2x3xf32> {jax.result_info = "result[0]"}, tensor<3x2x3xf32> {jax.result_info = "result[1]"}, tensor<2x3xf32> {jax.result_info = "result[2]"}, tensor<2x3xi32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3x2x4xf32>
    %1 = stablehlo.convolution(%arg0, %0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 0], [2, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x7x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x4x7x4xf32>
    %3 = stablehlo.compare GT, %1, %2, FLOAT : (tensor<1x4x7x4xf32>, tensor<1x4x7x4xf32>) -> tensor<1x4x7x4xi1>
    %4 = stablehlo.tanh %1 : tensor<1x4x7x4xf32>
    %5 = stablehlo.select %3, %1, %4 : tensor<1x4x7x4xi1>, tensor<1x4x7x4xf32>
    %6 = stablehlo.slice %5 [0:1, 1:4:2, 0:6:3, 0:4] : (tensor<1x4x7x4xf32>) -> tensor<1x2x2x4xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x2x2x4xf32>) -> tensor<4x4xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.pad %7, %cst_1, low = [0, 1], high = [1, 0], interior = [0, 2] : (tensor<4x4xf32>, tensor<f32>) -> tensor<5x11xf32>
    %9 = stablehlo.reverse %8, dims = [0] : tensor<5x11xf32>
    %10 = stablehlo.concatenate %8, %9, dim = 0 : (tensor<5x11xf32>, tensor<5x11xf32>) -> tensor<10x11xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.compare LT, %arg2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<10> : tensor<i32>
    %12 = stablehlo.add %arg2, %c_2 : tensor<i32>
    %13 = stablehlo.select %11, %12, %arg2 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.compare LT, %arg2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<11> : tensor<i32>
    %15 = stablehlo.add %arg2, %c_4 : tensor<i32>
    %16 = stablehlo.select %14, %15, %arg2 : tensor<i1>, tensor<i32>
    %17 = stablehlo.dynamic_slice %10, %13, %16, sizes = [2, 3] : (tensor<10x11xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %18 = stablehlo.iota dim = 1 : tensor<2x3xf32>
    %19 = stablehlo.add %17, %18 : tensor<2x3xf32>
    %20 = stablehlo.dot_general %arg1, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_5) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %23 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %24 = stablehlo.clamp %22, %19, %23 : tensor<2x3xf32>
    %25 = stablehlo.transpose %20, dims = [2, 0, 1] : (tensor<2x3x3xf32>) -> tensor<3x2x3xf32>
    %26 = stablehlo.convert %19 : (tensor<2x3xf32>) -> tensor<2x3xi32>
    return %24, %25, %21, %26 : tensor<2x3xf32>, tensor<3x2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>
  }
}
