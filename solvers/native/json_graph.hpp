// JSON graphs as src/memopt/api/plain_graphs.py reads them, without their IR.
#pragma once

#include <string_view>

#include "small_graph.hpp"

namespace memopt {

// What the reader of IR takes for granted, so that it stands in one place, in Python.
struct Forms {
    struct Element {
        std::string_view name;
        Bytes bits;
    };
    Bytes alignment = 1, most_bytes = 0;
    std::size_t most_dimensions = 0;
    std::vector<Element> elements;
};

struct JsonGraph {
    SmallGraph graph;                     // not derived yet
    std::vector<std::string_view> names;  // of the operators, within the text
    std::optional<std::int64_t> macs;
    Bytes weights = 0;  // that operators read, each once
};

// Throw Uncovered for a text that is not wholly ASCII JSON of a plain graph: what is odd or wrong is
// left to Python, which says so.
JsonGraph read_graph(std::string_view text, const Forms& forms);

}  // namespace memopt
