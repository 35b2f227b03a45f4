// RUN: memopt-opt --split-input-file --verify-diagnostics %s

// Short texts that stand for values which would fill the memory: each is one error with its place.

func.func @main(%x: tensor<4xi8> {memgraph.offset = 0 : i20000000000}) { // expected-error {{an integer type has at most 16,777,215 bits}}
  func.return
}

// -----

func.func @main(%x: tensor<4xsi16777216>) { // expected-error {{an integer type has at most 16,777,215 bits}}
  func.return
}

// -----

func.func @main() {
  %c = memgraph.constant dense<1> : tensor<4000000000000xi8> // expected-error {{a dense attribute has at most 4,194,304 elements; #memgraph.weights refers to those of a file}}
  func.return
}

// -----

func.func @main() {
  %c = memgraph.constant dense<"0x00"> : tensor<4000000000xi8> // expected-error {{a dense attribute has at most 4,194,304 elements}}
  func.return
}

// -----

func.func @main() {
  memgraph.opaque "a"() {a = dense<1> : vector<1000000000xi64>} : () -> () // expected-error {{a dense attribute has at most 4,194,304 elements}}
  func.return
}

// -----

func.func @main() {
  memgraph.opaque "a"() {a = dense<1> : tensor<4000000xi16777215>} : () -> () // expected-error {{a dense attribute has no elements of type i16777215}}
  func.return
}

// -----

func.func @main() {
  memgraph.opaque "a"() {a = dense<"0x0102"> : tensor<100000000000x0xi64>} : () -> () // expected-error {{the bytes of a dense attribute are not those of its elements}}
  func.return
}

// -----

func.func @main(%x: tensor<9223372036854775808xi8>) { // expected-error {{a dimension is a number of 64 bits}}
  func.return
}

// -----

func.func @main(%x: tensor<1x1000000000x1x1xi8>) {
  %a = memgraph.split_rows %x : tensor<1x1000000000x1x1xi8> // expected-error {{1,000,000,000 rows, more than 32,768}}
  func.return
}

// -----

!t = tensor<1x1000000000x1x1xi8>
func.func @main(%x: !t) -> !t {
  %f = memgraph.row_kernel (%y: !t) { // expected-error {{memgraph.relu has no rows}}
    %z = memgraph.relu %y : (!t) -> !t
    memgraph.yield %z : !t
  }
  func.return %x : !t
}
