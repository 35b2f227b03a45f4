// Each refusal of the operators of TensorFlow Lite Micro's signal library.
// RUN: memopt-opt --split-input-file --verify-diagnostics %s

func.func @main(%x: tensor<2x4xi16>, %w: tensor<3xi16>) {
  // expected-error@+1 {{memgraph.signal_window: a weight for each sample of a frame}}
  %0 = memgraph.signal_window %x, %w shift 12 : (tensor<2x4xi16>, tensor<3xi16>) -> tensor<2x4xi16>
  func.return
}
// -----
func.func @main(%x: tensor<2x4xi16>, %w: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_window: a shift by 0 to 31 bits}}
  %0 = memgraph.signal_window %x, %w shift 32 : (tensor<2x4xi16>, tensor<4xi16>) -> tensor<2x4xi16>
  func.return
}
// -----
func.func @main(%x: tensor<2x4xi16>, %w: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_window: shapes differ}}
  %0 = memgraph.signal_window %x, %w shift 1 : (tensor<2x4xi16>, tensor<4xi16>) -> tensor<4xi16>
  func.return
}
// -----
func.func @main(%x: tensor<1x4xi16>) {
  // expected-error@+1 {{memgraph.signal_fft_auto_scale: samples in one dimension}}
  %0, %1 = memgraph.signal_fft_auto_scale %x : (tensor<1x4xi16>) -> (tensor<1x4xi16>, tensor<i32>)
  func.return
}
// -----
func.func @main(%x: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_fft_auto_scale: shapes differ}}
  %0, %1 = memgraph.signal_fft_auto_scale %x : (tensor<4xi16>) -> (tensor<3xi16>, tensor<i32>)
  func.return
}
// -----
func.func @main(%x: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_fft_auto_scale: one exponent}}
  %0, %1 = memgraph.signal_fft_auto_scale %x : (tensor<4xi16>) -> (tensor<4xi16>, tensor<4xi32>)
  func.return
}
// -----
func.func @main(%x: tensor<12xi16>) {
  // expected-error@+1 {{memgraph.signal_rfft: a length is a power of 2 from 4 to 32768}}
  %0 = memgraph.signal_rfft %x length 12 : (tensor<12xi16>) -> tensor<14xi16>
  func.return
}
// -----
func.func @main(%x: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_rfft: vectors of another length}}
  %0 = memgraph.signal_rfft %x length 4 : (tensor<5xi16>) -> tensor<6xi16>
  func.return
}
// -----
func.func @main(%x: tensor<2x8xi16>) {
  // expected-error@+1 {{memgraph.signal_rfft: the result's shape must be (2, 10)}}
  %0 = memgraph.signal_rfft %x length 8 : (tensor<2x8xi16>) -> tensor<2x8xi16>
  func.return
}
// -----
func.func @main(%x: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_irfft: a length is a power of 2 from 4 to 32768}}
  %0 = memgraph.signal_irfft %x length 2 : (tensor<4xi16>) -> tensor<2xi16>
  func.return
}
// -----
func.func @main(%x: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_irfft: vectors of another length}}
  %0 = memgraph.signal_irfft %x length 4 : (tensor<5xi16>) -> tensor<4xi16>
  func.return
}
// -----
func.func @main(%x: tensor<1x2xi16>) {
  // expected-error@+1 {{memgraph.signal_energy: numbers in one dimension}}
  %0 = memgraph.signal_energy %x from 0 to 1 : (tensor<1x2xi16>) -> tensor<1xui32>
  func.return
}
// -----
func.func @main(%x: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_energy: a result for each complex number}}
  %0 = memgraph.signal_energy %x from 0 to 1 : (tensor<4xi16>) -> tensor<4xui32>
  func.return
}
// -----
func.func @main(%x: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_energy: numbers 1 to 3 of 2}}
  %0 = memgraph.signal_energy %x from 1 to 3 : (tensor<4xi16>) -> tensor<2xui32>
  func.return
}
// -----
func.func @main(%x: tensor<1x4xui32>, %w: tensor<3xi16>, %u: tensor<3xi16>, %a: tensor<3xi16>, %b: tensor<3xi16>, %c: tensor<3xi16>) {
  // expected-error@+1 {{memgraph.signal_filter_bank: all in one dimension}}
  %0 = memgraph.signal_filter_bank %x, %w, %u, %a, %b, %c : (tensor<1x4xui32>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>) -> tensor<2xui64>
  func.return
}
// -----
func.func @main(%x: tensor<4xui32>, %w: tensor<3xi16>, %u: tensor<2xi16>, %a: tensor<3xi16>, %b: tensor<3xi16>, %c: tensor<3xi16>) {
  // expected-error@+1 {{memgraph.signal_filter_bank: as many unweights as weights}}
  %0 = memgraph.signal_filter_bank %x, %w, %u, %a, %b, %c : (tensor<4xui32>, tensor<3xi16>, tensor<2xi16>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>) -> tensor<2xui64>
  func.return
}
// -----
func.func @main(%x: tensor<4xui32>, %w: tensor<3xi16>, %u: tensor<3xi16>, %a: tensor<3xi16>, %b: tensor<3xi16>, %c: tensor<3xi16>) {
  // expected-error@+1 {{memgraph.signal_filter_bank: a part for each channel and one before them}}
  %0 = memgraph.signal_filter_bank %x, %w, %u, %a, %b, %c : (tensor<4xui32>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>) -> tensor<3xui64>
  func.return
}
// -----
func.func @main(%x: tensor<4xui64>, %w: tensor<i32>) {
  // expected-error@+1 {{memgraph.signal_filter_bank_square_root: channels in one dimension}}
  %0 = memgraph.signal_filter_bank_square_root %x, %w : (tensor<4xui64>, tensor<i32>) -> tensor<3xui32>
  func.return
}
// -----
func.func @main(%x: tensor<4xui64>, %w: tensor<2xi32>) {
  // expected-error@+1 {{memgraph.signal_filter_bank_square_root: one number of bits}}
  %0 = memgraph.signal_filter_bank_square_root %x, %w : (tensor<4xui64>, tensor<2xi32>) -> tensor<4xui32>
  func.return
}
// -----
func.func @main(%x: tensor<4xui32>, %w: tensor<3xui32>) {
  // expected-error@+1 {{memgraph.signal_filter_bank_spectral_subtraction: channels in one dimension}}
  %0, %1 = memgraph.signal_filter_bank_spectral_subtraction %x state %w smoothing 1 rest 2 odd_smoothing 3 odd_rest 4 least 5 extra 10 bits 14 : (tensor<4xui32>, tensor<3xui32>) -> (tensor<4xui32>, tensor<4xui32>)
  func.return
}
// -----
func.func @main(%x: tensor<4xui32>, %w: tensor<4xui32>) {
  // expected-error@+1 {{memgraph.signal_filter_bank_spectral_subtraction: shifts by 0 to 31 bits}}
  %0, %1 = memgraph.signal_filter_bank_spectral_subtraction %x state %w smoothing 1 rest 2 odd_smoothing 3 odd_rest 4 least 5 extra 32 bits 14 : (tensor<4xui32>, tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
  func.return
}
// -----
func.func @main(%x: tensor<4xui32>, %w: tensor<4xui32>) {
  // expected-error@+1 {{memgraph.signal_filter_bank_spectral_subtraction: factors of 31 bits}}
  %0, %1 = memgraph.signal_filter_bank_spectral_subtraction %x state %w smoothing 2147483648 rest 2 odd_smoothing 3 odd_rest 4 least 5 extra 3 bits 14 : (tensor<4xui32>, tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
  func.return
}
// -----
func.func @main(%x: tensor<4xui32>, %w: tensor<4xui32>, %u: tensor<124xi16>) {
  // expected-error@+1 {{memgraph.signal_pcan: at least 125 gains}}
  %0 = memgraph.signal_pcan %x, %w, %u shift 6 : (tensor<4xui32>, tensor<4xui32>, tensor<124xi16>) -> tensor<4xui32>
  func.return
}
// -----
func.func @main(%x: tensor<4xui32>, %w: tensor<4xui32>, %u: tensor<1x125xi16>) {
  // expected-error@+1 {{memgraph.signal_pcan: gains in one dimension}}
  %0 = memgraph.signal_pcan %x, %w, %u shift 6 : (tensor<4xui32>, tensor<4xui32>, tensor<1x125xi16>) -> tensor<4xui32>
  func.return
}
// -----
func.func @main(%x: tensor<4xui32>, %w: tensor<4xui32>, %u: tensor<125xi16>) {
  // expected-error@+1 {{memgraph.signal_pcan: a shift by 0 to 63 bits}}
  %0 = memgraph.signal_pcan %x, %w, %u shift 64 : (tensor<4xui32>, tensor<4xui32>, tensor<125xi16>) -> tensor<4xui32>
  func.return
}
// -----
func.func @main(%x: tensor<4xui32>) {
  // expected-error@+1 {{memgraph.signal_filter_bank_log: a shift by 0 to 31 bits}}
  %0 = memgraph.signal_filter_bank_log %x scale 64 bits 32 : (tensor<4xui32>) -> tensor<4xi16>
  func.return
}
// -----
func.func @main(%x: tensor<4xui32>) {
  // expected-error@+1 {{memgraph.signal_filter_bank_log: a scale of 31 bits}}
  %0 = memgraph.signal_filter_bank_log %x scale -1 bits 3 : (tensor<4xui32>) -> tensor<4xi16>
  func.return
}
// -----
func.func @main(%x: tensor<5xi16>, %w: tensor<1xi16>) {
  // expected-error@+1 {{memgraph.signal_framer: a step of 1 to 4 samples}}
  %0, %1 = memgraph.signal_framer %x state %w size 4 step 5 : (tensor<5xi16>, tensor<1xi16>) -> (tensor<1x4xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<3xi16>, %w: tensor<1xi16>) {
  // expected-error@+1 {{memgraph.signal_framer: a vector of at least a step}}
  %0, %1 = memgraph.signal_framer %x state %w size 4 step 4 : (tensor<3xi16>, tensor<1xi16>) -> (tensor<1x4xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<6xi16>, %w: tensor<1xi16>) {
  // expected-error@+1 {{memgraph.signal_framer: a vector of whole steps}}
  %0, %1 = memgraph.signal_framer %x state %w size 4 step 4 : (tensor<6xi16>, tensor<1xi16>) -> (tensor<1x4xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<8xi16>, %w: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_framer: the result's shape must be (2, 6)}}
  %0, %1 = memgraph.signal_framer %x state %w size 6 step 4 : (tensor<8xi16>, tensor<5xi16>) -> (tensor<2x4xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<8xi16>, %w: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_framer: one truth}}
  %0, %1 = memgraph.signal_framer %x state %w size 6 step 4 : (tensor<8xi16>, tensor<5xi16>) -> (tensor<2x6xi16>, tensor<2xi1>)
  func.return
}
// -----
func.func @main(%x: tensor<1xi16>, %w: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_framer: a frame of fewer steps}}
  %0, %1 = memgraph.signal_framer %x state %w size 32769 step 1 : (tensor<1xi16>, tensor<5xi16>) -> (tensor<1x32769xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<8xi16>, %w: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_framer: a state of 5 elements}}
  %0, %1 = memgraph.signal_framer %x state %w size 6 step 4 : (tensor<8xi16>, tensor<4xi16>) -> (tensor<2x6xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<1x2xi16>, %w: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_stacker: a vector}}
  %0, %1 = memgraph.signal_stacker %x state %w left 1 right 1 step 1 : (tensor<1x2xi16>, tensor<5xi16>) -> (tensor<6xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<2xi16>, %w: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_stacker: vectors beside it}}
  %0, %1 = memgraph.signal_stacker %x state %w left -1 right 1 step 1 : (tensor<2xi16>, tensor<5xi16>) -> (tensor<6xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<2xi16>, %w: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_stacker: fewer vectors beside it}}
  %0, %1 = memgraph.signal_stacker %x state %w left 32766 right 0 step 1 : (tensor<2xi16>, tensor<5xi16>) -> (tensor<6xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<2xi16>, %w: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_stacker: a step of 1 to 3}}
  %0, %1 = memgraph.signal_stacker %x state %w left 1 right 1 step 4 : (tensor<2xi16>, tensor<5xi16>) -> (tensor<6xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<2xi16>, %w: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_stacker: the result's shape must be (6,)}}
  %0, %1 = memgraph.signal_stacker %x state %w left 1 right 1 step 1 : (tensor<2xi16>, tensor<5xi16>) -> (tensor<5xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<2xi16>, %w: tensor<5xi16>) {
  // expected-error@+1 {{memgraph.signal_stacker: one truth}}
  %0, %1 = memgraph.signal_stacker %x state %w left 1 right 1 step 1 : (tensor<2xi16>, tensor<5xi16>) -> (tensor<6xi16>, tensor<2xi1>)
  func.return
}
// -----
func.func @main(%x: tensor<2xi16>, %w: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_stacker: a state of 5 elements}}
  %0, %1 = memgraph.signal_stacker %x state %w left 1 right 1 step 1 : (tensor<2xi16>, tensor<4xi16>) -> (tensor<6xi16>, tensor<i1>)
  func.return
}
// -----
func.func @main(%x: tensor<2x4xi16>, %w: tensor<6xi16>) {
  // expected-error@+1 {{memgraph.signal_delay: shapes differ}}
  %0 = memgraph.signal_delay %x state %w length 3 : (tensor<2x4xi16>, tensor<6xi16>) -> tensor<8xi16>
  func.return
}
// -----
func.func @main(%x: tensor<2x4xi16>, %w: tensor<0xi16>) {
  // expected-error@+1 {{memgraph.signal_delay: a delay of no samples}}
  %0 = memgraph.signal_delay %x state %w length 0 : (tensor<2x4xi16>, tensor<0xi16>) -> tensor<2x4xi16>
  func.return
}
// -----
func.func @main(%x: tensor<2x4xi16>, %w: tensor<3xi16>) {
  // expected-error@+1 {{memgraph.signal_delay: a state of 6 elements}}
  %0 = memgraph.signal_delay %x state %w length 3 : (tensor<2x4xi16>, tensor<3xi16>) -> tensor<2x4xi16>
  func.return
}
// -----
func.func @main(%x: tensor<4xi16>, %w: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_overlap_add: frames in two dimensions and more}}
  %0 = memgraph.signal_overlap_add %x state %w step 2 : (tensor<4xi16>, tensor<4xi16>) -> tensor<2xi16>
  func.return
}
// -----
func.func @main(%x: tensor<2x4xi16>, %w: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_overlap_add: a step of 1 to 4 samples}}
  %0 = memgraph.signal_overlap_add %x state %w step 5 : (tensor<2x4xi16>, tensor<4xi16>) -> tensor<10xi16>
  func.return
}
// -----
func.func @main(%x: tensor<2x4xi16>, %w: tensor<4xi16>) {
  // expected-error@+1 {{memgraph.signal_overlap_add: the result's shape must be (4,)}}
  %0 = memgraph.signal_overlap_add %x state %w step 2 : (tensor<2x4xi16>, tensor<4xi16>) -> tensor<8xi16>
  func.return
}
// -----
func.func @main(%x: tensor<2x4xi16>, %w: tensor<3xi16>) {
  // expected-error@+1 {{memgraph.signal_overlap_add: a state of 4 elements}}
  %0 = memgraph.signal_overlap_add %x state %w step 2 : (tensor<2x4xi16>, tensor<3xi16>) -> tensor<4xi16>
  func.return
}
