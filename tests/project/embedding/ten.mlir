func.func @ten(%x: tensor<64xi8>) -> (tensor<96xi8>, tensor<16xi8>) {
  %a = toy.conv %x : tensor<64xi8> -> tensor<320xi8>
  %m = toy.conv %x : tensor<64xi8> -> tensor<320xi8>
  %b = toy.call "dsp" %a workspace 100 : tensor<320xi8> -> tensor<64xi8>
  %n = toy.call "dsp" %m workspace 4 : tensor<320xi8> -> tensor<32xi8>
  %c = toy.fill 3 : tensor<64xi8>
  %d = toy.mul %b, %c : tensor<64xi8>, tensor<64xi8> -> tensor<64xi8>
  %e = toy.add %d, %x : tensor<64xi8>, tensor<64xi8> -> tensor<64xi8>
  %f = toy.relu %e : tensor<64xi8> -> tensor<64xi8>
  %v = toy.view %f : tensor<64xi8> -> tensor<4x16xi8>
  %g = toy.conv %v : tensor<4x16xi8> -> tensor<32xi8>
  %h, %i = toy.split %f : tensor<64xi8> -> tensor<32xi8>, tensor<32xi8>
  %j = toy.add %h, %g : tensor<32xi8>, tensor<32xi8> -> tensor<32xi8>
  %o = toy.mul %j, %n : tensor<32xi8>, tensor<32xi8> -> tensor<32xi8>
  %k = toy.concat %e, %o : tensor<64xi8>, tensor<32xi8> -> tensor<96xi8>
  %s = toy.slice %i from 8 : tensor<32xi8> -> tensor<16xi8>
  %l = toy.relu %s : tensor<16xi8> -> tensor<16xi8>
  func.return %k, %l : tensor<96xi8>, tensor<16xi8>
}
