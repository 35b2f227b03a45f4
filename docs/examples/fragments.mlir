// Whole of the least peak, but not of the least arena: the order decides whether the buffers pack.
func.func @fragments(%x: tensor<512xi8>) -> (tensor<256xi8>, tensor<1280xi8>, tensor<1024xi8>, tensor<1024xi8>, tensor<1536xi8>) {
  %t0 = memgraph.opaque "stem"(%x) : (tensor<512xi8>) -> tensor<1024xi8>
  %t1 = memgraph.opaque "a"(%t0) : (tensor<1024xi8>) -> tensor<1280xi8>
  %t2 = memgraph.opaque "b"(%t0) : (tensor<1024xi8>) -> tensor<1280xi8>
  %t3 = memgraph.opaque "c"(%x) : (tensor<512xi8>) -> tensor<256xi8>
  %t4 = memgraph.opaque "d"(%t2) : (tensor<1280xi8>) -> tensor<1536xi8>
  %out0 = memgraph.opaque "e"(%x) : (tensor<512xi8>) -> tensor<256xi8>
  %out1 = memgraph.opaque "f"(%t0, %t1) : (tensor<1024xi8>, tensor<1280xi8>) -> tensor<1280xi8>
  %t7 = memgraph.opaque "g"(%t3) : (tensor<256xi8>) -> tensor<512xi8>
  %t8 = memgraph.opaque "h"(%t0, %t4) : (tensor<1024xi8>, tensor<1536xi8>) -> tensor<768xi8>
  %out2 = memgraph.opaque "i"(%t8) : (tensor<768xi8>) -> tensor<1024xi8>
  %out3 = memgraph.opaque "j"(%t0, %t7) : (tensor<1024xi8>, tensor<512xi8>) -> tensor<1024xi8>
  %out4 = memgraph.opaque "k"(%t2) : (tensor<1280xi8>) -> tensor<1536xi8>
  func.return %out0, %out1, %out2, %out3, %out4 : tensor<256xi8>, tensor<1280xi8>, tensor<1024xi8>, tensor<1024xi8>, tensor<1536xi8>
}
