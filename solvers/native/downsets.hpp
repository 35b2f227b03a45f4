// The search over downsets as the other files of the library ask it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "masks.hpp"

namespace memopt {

using Bytes = std::int64_t;
using Index = std::uint32_t;
using Indices = std::vector<Index>;

constexpr Index NONE = std::numeric_limits<Index>::max();

struct SizedGroup {
    Bytes size;
    Indices operators;
};

struct Operator {
    Bytes extra;
    std::vector<SizedGroup> fresh, freed, overwritten;
    Indices predecessors;
};

// downsets.cpp describes the fields, in the order of its stream.
struct Problem {
    std::size_t n;
    Bytes start, lower, unread, state_bytes;
    int chain;
    bool by_kills, commits, dominance;
    std::vector<Operator> operators;
    std::vector<Word> events;  // rows, those of in-place candidates behind
    std::size_t event_count;
    Indices last;  // per in-place candidate
    std::vector<Indices> blockers, unblocks;
    double weight;
};

class Search {
  public:
    virtual ~Search() = default;
    virtual void advance(std::int64_t states, std::int64_t work, Bytes memory, Bytes floor,
                         Bytes ceiling) = 0;
    virtual void order(std::int64_t* operators) const = 0;
    virtual std::int64_t waiting() const = 0;

    std::int64_t states = 0;
    Bytes memory = 0, lower = 0;
    bool exhausted = false, paused = false;
    Index goal = NONE;
};

std::unique_ptr<Search> make_search(Problem problem);

}  // namespace memopt
