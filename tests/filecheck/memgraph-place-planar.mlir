// A load that never changes is packed without a gap; any other is refused by name.
// RUN: memopt-opt --schedule=source --place=planar --verify-plan %s | filecheck %s
// RUN: not memopt-opt --schedule=source --place=planar %S/memgraph-place.mlir 2>&1 | filecheck %s --check-prefix=PEAK
// PEAK: memgraph-place: @plain: planar: the load is at its maximum for one set of buffers only

// Steps: x + a, then x + b + c in the room of x + a: 32 bytes in all, in each.
// CHECK-LABEL: @level
// CHECK-SAME: peak = 32
// CHECK-SAME: arena = 32
func.func @level(%x: tensor<8xi8>) -> tensor<12xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<24xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<24xi8>) -> tensor<8xi8>
  %c = memgraph.opaque "C"(%b) : (tensor<8xi8>) -> tensor<24xi8>
  %d = memgraph.opaque "D"(%c) : (tensor<24xi8>) -> tensor<8xi8>
  %e = memgraph.opaque "E"(%d) {memgraph.scratch = [#memgraph.scratch<12>]} : (tensor<8xi8>) -> tensor<12xi8>
  func.return %e : tensor<12xi8>
}
