// Memory graphs of at most 64 operators with nothing in place, sets of operators as one word:
// solvers/problems/memory_graph.py defines levels, steps and peaks.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "downsets.hpp"

namespace memopt {

constexpr std::size_t MOST = 64;
constexpr Bytes MOST_BYTES = Bytes{1} << 53;  // of all groups: a sum that a double holds exactly

using Order = std::vector<Index>;

inline Word one(std::size_t operator_) {
    return Word{1} << operator_;
}

template <class Action>
void each(Word mask, Action action) {
    for (; mask; mask &= mask - 1) action(static_cast<std::size_t>(std::countr_zero(mask)));
}

// What is left to Python: it is not wrong, but not covered here.
class Uncovered : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Numbers of the reference that decide its answers, so that each stands in one place, in Python.
struct Limits {
    std::int64_t searched = 0;  // operators of a graph that is searched
    std::int64_t states = 0;    // of both ends together
    std::int64_t turn = 0;      // states of one end before the next is chosen
    std::int64_t chain = 0;     // commits that one state may follow
    std::int64_t phase = 0;     // operators before or behind one from which on there are phases
};

struct Tensors {
    Bytes size;  // rounded up
    Word writers, readers;
    bool is_input, is_output;

    Word touchers() const { return writers | readers; }
};

struct SmallGraph {
    std::vector<Indices> predecessors;  // direct ones, in the order in which they are read
    std::vector<Bytes> extra;
    std::vector<Tensors> groups;

    // The rest follows from these, by `derive`.
    std::array<Word, MOST> before{}, after{}, up{}, down{};  // direct, and all
    std::vector<Indices> reads, writes, touches;             // groups of each operator
    Indices topological;
    Bytes first_level = 0, unread = 0;

    std::size_t n() const { return predecessors.size(); }
    Word all() const { return n() == MOST ? ~Word{0} : one(n()) - 1; }

    // Throw Uncovered where the operators are too many or form a cycle, or sums are too large.
    void derive();
    Bytes level(Word done) const;
    Bytes cost(Word done, std::size_t v) const;
};

// The peak of an order, and into `steps`, if it is given, the bytes of the step of each operator.
Bytes peak_of(const SmallGraph& graph, const Order& order, Bytes* steps = nullptr);

struct Proven {
    Order order;
    Bytes peak, bound;
    bool by_flow;  // else by a search
};

// The best of the orders of solvers/scheduling/methods/auto.py and the bound T6.
Proven heuristics_and_bound(const SmallGraph& graph, const Limits& limits);

struct Solved {
    Proven proven;
    std::int64_t states;
};

// An order of proven least peak, that of src/memopt/api/peaks.py; nothing where more is needed than
// a search of so few states.
std::optional<Solved> solve(const SmallGraph& graph, const Limits& limits);

}  // namespace memopt
