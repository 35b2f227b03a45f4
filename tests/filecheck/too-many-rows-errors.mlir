// RUN: not memopt-opt --rows=all %s 2>&1 | filecheck %s --check-prefix=ALL
// RUN: not memopt-opt --fit=4 %s 2>&1 | filecheck %s --check-prefix=FIT
// RUN: not memopt-opt --slide=4 %s 2>&1 | filecheck %s --check-prefix=SLIDE
// RUN: not memopt-opt -p "memgraph-slide{rows=4}" %s 2>&1 | filecheck %s --check-prefix=SLIDE
// RUN: memopt-opt --rows=auto --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=AUTO

// An image of a billion rows is planned whole; where rows are asked for, it is refused by name.
// ALL: no operator has rows: x has 1,000,000,000 rows, more than 32,768
// FIT: 2,000,000,000 B
// SLIDE: x has 1,000,000,000 rows, more than 32,768
// AUTO: peak = 2000000000
!t = tensor<1x1000000000x1x1xi8>
func.func @main(%x: !t) -> !t {
  %a = memgraph.relu %x : (!t) -> !t
  func.return %a : !t
}
