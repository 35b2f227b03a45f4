// RUN: not memopt-opt --input-range=y=-1:1 %s 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not memopt-opt --input-range=x=2:1 %s 2>&1 | filecheck %s --check-prefix=ORDER
// RUN: not memopt-opt --input-range=x=nan:1 %s 2>&1 | filecheck %s --check-prefix=NAN
// RUN: not memopt-opt --input-range=x=-1:inf %s 2>&1 | filecheck %s --check-prefix=INF
// RUN: not memopt-opt --input-range=x=-1e39:1 %s 2>&1 | filecheck %s --check-prefix=LARGE
// RUN: not memopt-opt --input-range=q=-1:1 %s 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not memopt-opt --input-range=x=-1:1 --input-range=x=-1:2 %s 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not memopt-opt --input-range=x=1 %s 2>&1 | filecheck %s --check-prefix=FORM
// RUN: not memopt-opt -p "memgraph-input-range{of=x}" %s 2>&1 | filecheck %s --check-prefix=PASS

// NAME: error: --input-range names 'y', but the inputs are: x, q
// ORDER: input 'x': error: a range of 2.0 to 1.0: the first end is above the second
// NAN: input 'x': error: a range of nan to 1.0: both ends must be finite numbers
// INF: input 'x': error: a range of -1.0 to inf: both ends must be finite numbers
// LARGE: input 'x': error: a range of -1e+39 to 1.0: no float32 is that large
// TYPE: input 'q': error: is i8; a range is declared of float32 only
// TWICE: input 'x': error: has another range already
// FORM: memopt-opt: error: --input-range=x=1: expected NAME=LOW:HIGH, such as x=-1:1
// PASS: memopt-opt: error: memgraph-input-range: x: expected NAME=LOW:HIGH, such as x=-1:1
func.func @main(%x: tensor<1x4xf32>, %q: tensor<1x4xi8>) -> tensor<1x4xf32> {
  %0 = memgraph.relu %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %0 : tensor<1x4xf32>
}
