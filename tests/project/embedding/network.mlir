func.func @network(%x: tensor<64xi8>) -> tensor<32xi8> {
  %a = toy.conv %x : tensor<64xi8> -> tensor<320xi8>
  %b = toy.conv %x : tensor<64xi8> -> tensor<320xi8>
  %v = toy.view %a : tensor<320xi8> -> tensor<10x32xi8>
  %w = toy.view %v : tensor<10x32xi8> -> tensor<32x10xi8>
  %c = toy.conv %w : tensor<32x10xi8> -> tensor<32xi8>
  %d = toy.call "dsp" %b workspace 100 : tensor<320xi8> -> tensor<32xi8>
  %e = toy.add %c, %d : tensor<32xi8>, tensor<32xi8> -> tensor<32xi8>
  %f = toy.call "dsp" %e workspace 4 : tensor<32xi8> -> tensor<32xi8>
  func.return %f : tensor<32xi8>
}
