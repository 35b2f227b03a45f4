// The operators of TensorFlow Lite Micro's signal library: their syntax, and a plan of a preprocessor of audio that
// remembers samples and noise from one run to the next.
// RUN: memopt-opt %s | memopt-opt | filecheck %s
// RUN: sed '/^func.func @back/,$d' %s > %t.main.mlir
// RUN: memopt-opt -p "memgraph-model{target=host},memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" -o %t.mlir %t.main.mlir
// RUN: memopt-opt -t c %t.mlir | filecheck %s --check-prefix=C

// CHECK: memgraph.signal_framer %{{.*}} state %{{.*}} size 6 step 4 prefilled
// CHECK: memgraph.signal_window %{{.*}}, %{{.*}} shift 12
// CHECK: memgraph.signal_fft_auto_scale %{{.*}} : (tensor<6xi16>) -> (tensor<6xi16>, tensor<i32>)
// CHECK: memgraph.signal_rfft %{{.*}} length 8
// CHECK: memgraph.signal_energy %{{.*}} from 1 to 4
// CHECK: memgraph.signal_filter_bank %
// CHECK: memgraph.signal_filter_bank_square_root %
// CHECK: memgraph.signal_filter_bank_spectral_subtraction %{{.*}} state %{{.*}} smoothing 409 rest 15975 odd_smoothing 983 odd_rest 15401 least 819 extra 10 bits 14 clamped
// CHECK: memgraph.signal_pcan %{{.*}}, %{{.*}}, %{{.*}} shift 6
// CHECK: memgraph.signal_filter_bank_log %{{.*}} scale 64 bits 3
// CHECK: memgraph.signal_stacker %{{.*}} state %{{.*}} left 1 right 1 step 2
// C: memopt_signal_framer
// C: memopt_signal_fft_auto_scale
// C: memopt_signal_fft_s16
// C: memopt_signal_filter_bank_spectral_subtraction
// C: memopt_signal_stacker
func.func @main(%x: tensor<4xi16>) -> (tensor<6xi16>, tensor<i1>) {
  %samples = memgraph.variable "samples" : tensor<3xi16>
  %frames, %valid = memgraph.signal_framer %x state %samples size 6 step 4 prefilled : (tensor<4xi16>, tensor<3xi16>) -> (tensor<1x6xi16>, tensor<i1>)
  %hann = memgraph.constant dense<[0, 1024, 4096, 4096, 1024, 0]> : tensor<6xi16>
  %w = memgraph.signal_window %frames, %hann shift 12 : (tensor<1x6xi16>, tensor<6xi16>) -> tensor<1x6xi16>
  %f = memgraph.reshape %w : (tensor<1x6xi16>) -> tensor<6xi16>
  %s, %e = memgraph.signal_fft_auto_scale %f : (tensor<6xi16>) -> (tensor<6xi16>, tensor<i32>)
  %r = memgraph.signal_rfft %s length 8 : (tensor<6xi16>) -> tensor<10xi16>
  %p = memgraph.signal_energy %r from 1 to 4 : (tensor<10xi16>) -> tensor<5xui32>
  %weights = memgraph.constant dense<[4096, 2048, 4096]> : tensor<3xi16>
  %unweights = memgraph.constant dense<[0, 2048, 0]> : tensor<3xi16>
  %starts = memgraph.constant dense<[1, 2, 3]> : tensor<3xi16>
  %first = memgraph.constant dense<[0, 1, 2]> : tensor<3xi16>
  %widths = memgraph.constant dense<1> : tensor<3xi16>
  %b = memgraph.signal_filter_bank %p, %weights, %unweights, %starts, %first, %widths : (tensor<5xui32>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>) -> tensor<2xui64>
  %q = memgraph.signal_filter_bank_square_root %b, %e : (tensor<2xui64>, tensor<i32>) -> tensor<2xui32>
  %noise = memgraph.variable "noise" : tensor<2xui32>
  %c, %n = memgraph.signal_filter_bank_spectral_subtraction %q state %noise smoothing 409 rest 15975 odd_smoothing 983 odd_rest 15401 least 819 extra 10 bits 14 clamped : (tensor<2xui32>, tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>)
  %gains = memgraph.constant dense<7> : tensor<125xi16>
  %g = memgraph.signal_pcan %c, %n, %gains shift 6 : (tensor<2xui32>, tensor<2xui32>, tensor<125xi16>) -> tensor<2xui32>
  %l = memgraph.signal_filter_bank_log %g scale 64 bits 3 : (tensor<2xui32>) -> tensor<2xi16>
  %before = memgraph.variable "before" : tensor<5xi16>
  %y, %there = memgraph.signal_stacker %l state %before left 1 right 1 step 2 : (tensor<2xi16>, tensor<5xi16>) -> (tensor<6xi16>, tensor<i1>)
  func.return %y, %there : tensor<6xi16>, tensor<i1>
}

// CHECK: memgraph.signal_delay %{{.*}} state %{{.*}} length 3
// CHECK: memgraph.signal_irfft %{{.*}} length 4
// CHECK: memgraph.signal_overlap_add %{{.*}} state %{{.*}} step 2
func.func @back(%x: tensor<2x6xi16>) -> (tensor<2x6xi16>, tensor<4xi16>) {
  %late = memgraph.variable "late" : tensor<6xi16>
  %d = memgraph.signal_delay %x state %late length 3 : (tensor<2x6xi16>, tensor<6xi16>) -> tensor<2x6xi16>
  %i = memgraph.signal_irfft %x length 4 : (tensor<2x6xi16>) -> tensor<2x4xi16>
  %sums = memgraph.variable "sums" : tensor<4xi16>
  %y = memgraph.signal_overlap_add %i state %sums step 2 : (tensor<2x4xi16>, tensor<4xi16>) -> tensor<4xi16>
  func.return %d, %y : tensor<2x6xi16>, tensor<4xi16>
}
