// Best fit on a skyline over time where nothing is fixed: the loop of
// solvers/placement/methods/best_fit.py, which explains it and is the reference. Each item gets the
// same offset.
//
// Stream: items n. Per item: first step, end, bytes, alignment, stretches. Per stretch, ascending
// and disjoint: first step, end, bytes from the offset to the end of the highest piece.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "interface.hpp"
#include "stream.hpp"

namespace memopt {
namespace {

using Step = std::int64_t;
using Bytes = std::int64_t;

constexpr std::size_t NONE = std::numeric_limits<std::size_t>::max();

struct Stretch {
    Step start, end;
    Bytes height;
};

struct Item {
    Step lower, upper;
    Bytes size, alignment;
    std::vector<Stretch> tops;
};

std::vector<Item> items_of(Stream& stream) {
    std::vector<Item> items;
    for (auto n = stream.next(0, LARGEST_SUM); n; --n) {
        Item item{};
        item.lower = stream.next(-LARGEST_SUM, LARGEST_SUM - 1);
        item.upper = stream.next(item.lower + 1, LARGEST_SUM);
        item.size = stream.bytes(1);
        item.alignment = stream.bytes(1);
        Step from = item.lower;
        for (auto tops = stream.next(1, LARGEST_SUM); tops; --tops) {
            const Step start = stream.next(from, item.upper - 1);
            from = stream.next(start + 1, item.upper);
            item.tops.push_back({start, from, stream.next(1, item.size)});
        }
        items.push_back(std::move(item));
    }
    stream.finish();
    return items;
}

// The items to come, by their first step. Above them a tree: of each half, of each quarter and so
// on the best rank and the earliest end, so that what cannot have the answer is not looked at.
class Waiting {
  public:
    explicit Waiting(const std::vector<Item>& items) : ranked_(items.size()) {
        std::iota(ranked_.begin(), ranked_.end(), std::size_t{0});
        std::ranges::sort(ranked_, {}, [&](std::size_t i) {
            return std::tuple(items[i].lower - items[i].upper, -items[i].size, i);
        });
        std::vector<std::size_t> order(items.size());  // of ranks
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t r) { return items[ranked_[r]].lower; });
        while (leaves_ < items.size()) leaves_ *= 2;
        nodes_.assign(2 * leaves_, Node{});
        for (std::size_t at = 0; at < order.size(); ++at) {
            const Item& item = items[ranked_[order[at]]];
            lower_.push_back(item.lower);
            nodes_[leaves_ + at] = {order[at], item.upper};
        }
        for (std::size_t node = leaves_ - 1; node; --node) join(node);
    }

    // Takes the longest-lived item within steps [start, end), the largest of several; else NONE.
    std::size_t take(Step start, Step end) {
        const auto at = std::ranges::lower_bound(lower_, start);
        from_ = static_cast<std::size_t>(at - lower_.begin());
        until_ = static_cast<std::size_t>(
            std::ranges::lower_bound(at, lower_.end(), end) - lower_.begin());
        end_ = end;
        best_ = NONE;
        look(1, 0, leaves_);
        if (best_ == NONE) return NONE;
        const std::size_t rank = nodes_[best_].rank;
        nodes_[best_] = {};
        for (std::size_t node = best_ / 2; node; node /= 2) join(node);
        return ranked_[rank];
    }

  private:
    struct Node {
        std::size_t rank = NONE;
        Step end = std::numeric_limits<Step>::max();
    };

    void join(std::size_t node) {
        const Node &left = nodes_[2 * node], &right = nodes_[2 * node + 1];
        nodes_[node] = {std::min(left.rank, right.rank), std::min(left.end, right.end)};
    }

    void look(std::size_t node, std::size_t first, std::size_t last) {
        if (last <= from_ || first >= until_ || nodes_[node].end > end_) return;
        if (best_ != NONE && nodes_[node].rank >= nodes_[best_].rank) return;
        if (node >= leaves_) {
            best_ = node;
            return;
        }
        const std::size_t middle = (first + last) / 2, left = 2 * node, right = left + 1;
        const bool is_left_first = nodes_[left].rank < nodes_[right].rank;
        if (is_left_first) look(left, first, middle);
        look(right, middle, last);
        if (!is_left_first) look(left, first, middle);
    }

    std::vector<std::size_t> ranked_;
    std::vector<Step> lower_;
    std::size_t leaves_ = 1;
    std::vector<Node> nodes_;
    // what is asked, and the best leaf
    std::size_t from_ = 0, until_ = 0, best_ = NONE;
    Step end_ = 0;
};

// Stretches in a linked list, and a heap of them by height; what was replaced is gone.
class Skyline {
  public:
    Skyline(Step start, Step end) { add({start, end, 0}, NONE, NONE); }

    // The lowest stretch, the earliest of several.
    std::size_t lowest() {
        while (entries_[std::get<2>(heap_.top())].is_gone) heap_.pop();
        return std::get<2>(heap_.top());
    }

    const Stretch& operator[](std::size_t at) const { return entries_[at].stretch; }

    // Lifts a stretch to its lower neighbour and joins them.
    void lift(std::size_t at) {
        Stretch lifted = entries_[at].stretch;
        lifted.height = std::numeric_limits<Bytes>::max();
        for (const std::size_t side : {entries_[at].before, entries_[at].after})
            if (side != NONE)
                lifted.height = std::min(lifted.height, entries_[side].stretch.height);
        parts_.assign(1, lifted);
        replace(at);
    }

    // Puts blocks, ascending and disjoint in time, `offset` above 0 on a stretch.
    void fill(std::size_t at, const std::vector<Stretch>& blocks, Bytes offset) {
        Stretch rest = entries_[at].stretch;
        parts_.clear();
        for (const Stretch& block : blocks) {
            if (rest.start < block.start) parts_.push_back({rest.start, block.start, rest.height});
            parts_.push_back({block.start, block.end, offset + block.height});
            rest.start = block.end;
        }
        if (rest.start < rest.end) parts_.push_back(rest);
        replace(at);
    }

  private:
    struct Entry {
        Stretch stretch;
        std::size_t before, after;
        bool is_gone = false;
    };
    using Low = std::tuple<Bytes, Step, std::size_t>;

    std::size_t add(const Stretch& stretch, std::size_t before, std::size_t after) {
        const std::size_t at = entries_.size();
        entries_.push_back({stretch, before, after});
        if (before != NONE) entries_[before].after = at;
        if (after != NONE) entries_[after].before = at;
        heap_.emplace(stretch.height, stretch.start, at);
        return at;
    }

    // Puts `parts_` where a stretch is; the outer ones join neighbours of their height.
    void replace(std::size_t at) {
        std::size_t before = entries_[at].before, after = entries_[at].after;
        entries_[at].is_gone = true;
        if (before != NONE && entries_[before].stretch.height == parts_.front().height) {
            parts_.front().start = entries_[before].stretch.start;
            entries_[before].is_gone = true;
            before = entries_[before].before;
        }
        if (after != NONE && entries_[after].stretch.height == parts_.back().height) {
            parts_.back().end = entries_[after].stretch.end;
            entries_[after].is_gone = true;
            after = entries_[after].after;
        }
        for (const Stretch& part : parts_) before = add(part, before, after);
    }

    std::vector<Entry> entries_;
    std::priority_queue<Low, std::vector<Low>, std::greater<>> heap_;
    std::vector<Stretch> parts_;  // scratch
};

void place(const std::vector<Item>& items, std::int64_t* offsets) {
    if (items.empty()) return;
    Waiting waiting(items);
    Skyline skyline(std::ranges::min(items, {}, &Item::lower).lower,
                    std::ranges::max(items, {}, &Item::upper).upper);
    for (std::size_t left = items.size(); left;) {
        const std::size_t at = skyline.lowest();
        const auto [start, end, height] = skyline[at];
        const std::size_t i = waiting.take(start, end);
        if (i == NONE) {
            skyline.lift(at);
            continue;
        }
        const Bytes unit = items[i].alignment;
        offsets[i] = (height + unit - 1) / unit * unit;
        skyline.fill(at, items[i].tops, offsets[i]);
        --left;
    }
}

}  // namespace
}  // namespace memopt

std::int32_t memopt_best_fit(const std::int64_t* numbers, std::int64_t count,
                             std::int64_t* offsets) try {
    memopt::Stream stream(numbers, count);
    memopt::place(memopt::items_of(stream), offsets);
    return 0;
} catch (const std::exception&) {
    return 1;
}
