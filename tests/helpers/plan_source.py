"""A network of three operators, which every kind of plan is made of."""

SOURCE = """
func.func @main(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<16>]}
    : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<32xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%b, %a) : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
"""
