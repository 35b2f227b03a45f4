// Two branches of one input, both begun before either is finished: both wide tensors are alive.
func.func @branches(%x : tensor<1024xi8>) -> tensor<256xi8> {
  %wide0 = memgraph.opaque "expand"(%x) : (tensor<1024xi8>) -> tensor<4096xi8>
  %wide1 = memgraph.opaque "expand"(%x) : (tensor<1024xi8>) -> tensor<4096xi8>
  %slim0 = memgraph.opaque "project"(%wide0) : (tensor<4096xi8>) -> tensor<256xi8>
  %slim1 = memgraph.opaque "project"(%wide1) : (tensor<4096xi8>) -> tensor<256xi8>
  %sum = memgraph.opaque "join"(%slim0, %slim1) : (tensor<256xi8>, tensor<256xi8>) -> tensor<256xi8>
  func.return %sum : tensor<256xi8>
}
