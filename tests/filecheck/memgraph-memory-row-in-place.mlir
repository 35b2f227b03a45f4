// A row in place of a part of a tensor that is read as a whole, too: what is left of it while the row
// lives is not rounded up to its alignment.
// RUN: memopt-opt -p "memgraph-memory{banks=\"a:2K@1,b:9K@2\"},memgraph-verify-plan{placed=true}" %s | filecheck %s
// CHECK: #memgraph.memory<a, kind = bank
// CHECK: [[A:%.*]] = memgraph.relu %x {{.*}}memgraph.offset = [#memgraph.slot<a, [[AT:[0-9]+]]>]
// CHECK: memgraph.row {{.*}}[1] {{.*}}kind = inplace{{.*}}memgraph.offset = [#memgraph.slot<a, {{[0-9]+}}>]
!t = tensor<1x2x1x6xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!r = tensor<1x1x1x6xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
func.func @main(%x: !t) -> (!t, !t) attributes {memgraph.model = #memgraph.model<target = host, alignment = 4, io = arena, views = on, inplace = on, scratch = none>} {
  %a = memgraph.relu %x : (!t) -> !t
  %b = memgraph.relu %a : (!t) -> !t
  %f = memgraph.row_kernel (%p: !t) {
    %q = memgraph.relu %p : (!t) -> !t
    memgraph.yield %q : !t
  }
  %a0, %a1 = memgraph.split_rows %a : !t
  %y0 = memgraph.row %f[0] (%a0) : (!r) -> !r
  %y1 = memgraph.row %f[1] (%a1) {memgraph.alias = [[#memgraph.alias<operand = 1, kind = inplace>]]} : (!r) -> !r
  %g = memgraph.row_kernel (%p: !t) {
    %q = memgraph.relu %p : (!t) -> !t
    memgraph.yield %q : !t
  }
  %z0 = memgraph.row %g[0] (%y0) : (!r) -> !r
  %z1 = memgraph.row %g[1] (%y1) : (!r) -> !r
  %z = memgraph.join %z0, %z1 : !t
  func.return %b, %z : !t, !t
}
