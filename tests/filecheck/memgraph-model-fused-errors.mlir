// RUN: not memopt-opt --fuse --model=target=host,inplace=on --schedule=auto %s 2>&1 | filecheck %s
// RUN: memopt-opt --fuse --schedule=auto --model=target=host,inplace=on --schedule=auto %s | filecheck %s --check-prefix=PLAN
// RUN: memopt-opt --model=target=host,inplace=on --fuse --schedule=auto %s | filecheck %s --check-prefix=PLAN

// What a hyper-node takes and makes follows from the memory model.
// CHECK: error: a hyper-node that {{.*}}; if the memory model changed since --fuse, put --model before it
// PLAN: #memgraph.plan<peak = 16,
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = memgraph.relu %x : (tensor<4xi8>) -> tensor<4xi8>
  %1 = memgraph.relu %0 : (tensor<4xi8>) -> tensor<4xi8>
  %2 = memgraph.relu %1 : (tensor<4xi8>) -> tensor<4xi8>
  func.return %2 : tensor<4xi8>
}
