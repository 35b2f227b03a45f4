// Placement below a height by ejections: the loops of solvers/placement/ejections.py, which
// explains them and is the reference. The same items move in the same order.
//
// Stream: items n, sections. Per item: weight, alignment, fixed offset or -1, height, pieces. Per
// piece: first section, end, bytes above the offset, size.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "interface.hpp"
#include "paused_search.hpp"
#include "stream.hpp"

namespace memopt {
namespace {

using Units = std::int64_t;

constexpr std::int64_t MOST_PIECES = 1 << 16, MOST_SECTIONS = 1 << 17;
constexpr std::size_t MOST_LIVE = std::size_t{1} << 27;  // pieces by section
constexpr std::int64_t MOST_WEIGHT = std::int64_t{1} << 28, FIXED = std::int64_t{1} << 45;
constexpr Units NOWHERE = -1;
static_assert(FIXED > MOST_PIECES * MOST_WEIGHT && FIXED < INT64_MAX / (2 * MOST_PIECES));

enum Status : std::int64_t { PAUSED, SOLVED, FAILED };

struct Piece {
    std::size_t item, first, last;
    Units at, size;
};

struct Item {
    std::int64_t weight, alignment;
    Units fixed, height;
    std::size_t piece, end;  // its pieces
};

// What the loops read of a piece, in one place: where it is, `bottom` NOWHERE while its item waits.
struct Standing {
    Units bottom, top;
    std::int64_t weight;
    std::size_t item;
};

struct Waiting {
    std::int64_t weight, arrival;
    std::size_t item;
    bool operator<(const Waiting& other) const {
        return weight < other.weight || (weight == other.weight && arrival > other.arrival);
    }
};

Units floored(Units value, Units by) { return value / by - (value % by < 0); }

class Ejections {
  public:
    Ejections(const std::int64_t* numbers, std::int64_t count) {
        Stream stream(numbers, count);
        const auto n = stream.next(0, MOST_PIECES);
        const auto sections = stream.next(0, MOST_SECTIONS);
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
            Item item{};
            item.weight = stream.next(1, MOST_WEIGHT);
            item.alignment = stream.next(1, LARGEST_SUM);
            item.fixed = stream.next(-1, LARGEST_SUM);
            item.height = stream.bytes();
            item.piece = pieces_.size();
            const auto pieces =
                stream.next(0, MOST_PIECES - static_cast<std::int64_t>(pieces_.size()));
            for (auto p = pieces; p; --p) {
                const auto first = stream.next(0, sections - 1);
                const auto last = stream.next(first + 1, sections);
                const Units at = stream.bytes();
                pieces_.push_back({i, static_cast<std::size_t>(first),
                                   static_cast<std::size_t>(last), at, stream.bytes(1)});
            }
            item.end = pieces_.size();
            items_.push_back(item);
        }
        stream.finish();
        starting_.resize(static_cast<std::size_t>(sections));
        live_.resize(static_cast<std::size_t>(sections));
        std::size_t total = 0;
        for (const Piece& p : pieces_)
            if ((total += p.last - p.first) > MOST_LIVE) throw Refused("large tables");
        for (std::size_t p = 0; p < pieces_.size(); ++p) {
            starting_[pieces_[p].first].push_back(static_cast<std::uint32_t>(p));
            for (std::size_t t = pieces_[p].first; t < pieces_[p].last; ++t)
                live_[t].push_back(static_cast<std::uint32_t>(p));
        }
        offsets.assign(items_.size(), 0);
        standing_.resize(pieces_.size());
    }

    bool begin(const std::int64_t* given, std::int64_t height) {
        if (height < 0 || height > LARGEST_SUM) return false;
        weights_.clear();
        waiting_ = {};
        arrivals_ = 0;
        settled_.clear();
        height_ = height;
        next_ = 0;
        is_lifted_ = false;
        status_ = PAUSED;
        for (std::size_t i = 0; i < items_.size(); ++i) {
            const Item& item = items_[i];
            offsets[i] = item.fixed < 0 ? given[i] : item.fixed;
            weights_.push_back(item.fixed < 0 ? item.weight : FIXED);
            if (offsets[i] < 0 || offsets[i] > LARGEST_SUM) return false;
            if (item.fixed < 0 && offsets[i] + item.height > height)
                wait(i);
            else
                put(i, true);
        }
        return true;
    }

    // Take a higher height; any, to place what waits above all else, where it is negative.
    void lift(std::int64_t height) {
        is_lifted_ = height < 0 || height > LARGEST_SUM;
        height_ = is_lifted_ ? 2 * LARGEST_SUM : height;
        status_ = PAUSED;
    }

    Status advance(std::int64_t pause) {
        while (status_ == PAUSED && work < pause) {
            if (!waiting_.empty())
                insert();
            else if (is_lifted_)
                status_ = SOLVED;
            else
                settle();
        }
        return status_;
    }

    std::int64_t work = 0;
    std::vector<Units> offsets;

  private:
    // Let the pieces of an item stand at its offset, or nowhere.
    void put(std::size_t i, bool is_placed) {
        for (std::size_t at = items_[i].piece; at < items_[i].end; ++at) {
            const Units bottom = offsets[i] + pieces_[at].at;
            standing_[at] = {is_placed ? bottom : NOWHERE, bottom + pieces_[at].size, weights_[i], i};
        }
    }

    void wait(std::size_t i) {
        put(i, false);
        waiting_.push({weights_[i], ++arrivals_, i});
    }

    // The lowest of the cheapest offsets up to `highest`, in units of the item's alignment; -1 if
    // there is none. `near_` are then the placed pieces that are live with the item.
    std::int64_t cheapest(std::size_t i, Units highest) {
        const Item& item = items_[i];
        const Units a = item.alignment;
        near_.clear();
        events_.clear();
        std::int64_t cost = 0;
        const auto consider = [&](const Piece& p, std::uint32_t index) {
            ++work;
            const Standing& q = standing_[index];
            if (q.bottom == NOWHERE || q.item == i) return;
            const Units before = q.bottom - p.at - p.size, top = q.top - p.at;
            const Units low = std::max(Units{0}, a == 1 ? before + 1 : floored(before, a) + 1);
            const Units high = a == 1 ? top : -floored(-top, a);
            if (high <= low) return;
            near_.push_back({&p, &q});
            if (low > highest) return;
            if (low)
                events_.push_back({low, q.weight});
            else
                cost += q.weight;
            if (high <= highest) events_.push_back({high, -q.weight});
        };
        ++work;
        for (std::size_t at = item.piece; at < item.end; ++at) {
            const Piece& p = pieces_[at];
            for (auto index : live_[p.first]) consider(p, index);
            for (std::size_t t = p.first + 1; t < p.last; ++t)
                for (auto index : starting_[t]) consider(p, index);
        }
        if (highest < 0) return is_free_ = false, -1;
        Units best = 0;
        std::int64_t least = cost;
        scatter(highest);
        // a bucket is put in order when it is come to: most often a place below is free
        for (std::size_t bucket = 0; least && bucket + 1 < bounds_.size(); ++bucket) {
            const auto begin = ordered_.begin() + bounds_[bucket];
            const auto end = ordered_.begin() + bounds_[bucket + 1];
            sort_few(begin, end);
            for (auto event = begin; least && event != end;) {
                const Units position = event->first;
                for (; event != end && event->first == position; ++event) cost += event->second;
                if (cost < least) {
                    least = cost;
                    best = position;
                }
            }
        }
        is_free_ = !least;
        return best;
    }

    // By position; of few, as there are in most buckets, by insertion.
    template <class Event>
    static void sort_few(Event begin, Event end) {
        if (end - begin > 24) {
            std::sort(begin, end, [](const auto& x, const auto& y) { return x.first < y.first; });
            return;
        }
        for (auto at = begin; at != end; ++at) {
            const auto event = *at;
            auto free = at;
            for (; free != begin && (free - 1)->first > event.first; --free) *free = *(free - 1);
            *free = event;
        }
    }

    // The events from 0 to `highest` in `ordered_`, by as many buckets as there are events; bucket k
    // lies between `bounds_` k and k + 1.
    void scatter(Units highest) {
        int shift = 0;
        while (static_cast<std::size_t>(highest >> shift) > events_.size()) ++shift;
        bounds_.assign(static_cast<std::size_t>(highest >> shift) + 2, 0);
        for (const auto& [position, weight] : events_)
            ++bounds_[static_cast<std::size_t>(position >> shift) + 1];
        for (std::size_t k = 1; k < bounds_.size(); ++k) bounds_[k] += bounds_[k - 1];
        next_of_ = bounds_;
        ordered_.resize(events_.size());
        for (const auto& event : events_)
            ordered_[static_cast<std::size_t>(
                next_of_[static_cast<std::size_t>(event.first >> shift)]++)] = event;
    }

    // Place the heaviest of those that wait, the first to wait of several; what lies there waits.
    void insert() {
        const std::size_t i = waiting_.top().item;
        const Item& item = items_[i];
        if (height_ < item.height) {
            status_ = FAILED;
            return;
        }
        const Units position = cheapest(i, (height_ - item.height) / item.alignment);
        const Units offset = position * item.alignment;
        ejected_.clear();
        if (!is_free_) {
            for (const auto& [p, q] : near_) {
                const Units bottom = offset + p->at;
                if (bottom < q->top && q->bottom < bottom + p->size)
                    ejected_.push_back(q->item);
            }
            std::sort(ejected_.begin(), ejected_.end());
            ejected_.erase(std::unique(ejected_.begin(), ejected_.end()), ejected_.end());
            for (std::size_t j : ejected_)
                if (items_[j].fixed >= 0) {
                    status_ = FAILED;
                    return;
                }
            weights_[i] = std::min(MOST_WEIGHT, weights_[i] + item.weight);
        }
        waiting_.pop();
        for (std::size_t j : ejected_) wait(j);
        offsets[i] = offset;
        put(i, true);
    }

    // Let the next item sink, from the lowest to the highest.
    void settle() {
        if (!next_) {
            for (std::size_t i = 0; i < items_.size(); ++i)
                if (items_[i].fixed < 0) settled_.push_back(i);
            std::stable_sort(settled_.begin(), settled_.end(), [&](auto x, auto y) {
                return offsets[x] < offsets[y];
            });
        }
        if (next_ == settled_.size()) {
            status_ = SOLVED;
            return;
        }
        const std::size_t i = settled_[next_++];
        const Units position = cheapest(i, offsets[i] / items_[i].alignment);
        if (!is_free_) return;
        offsets[i] = position * items_[i].alignment;
        put(i, true);
    }

    std::vector<Item> items_;
    std::vector<Piece> pieces_;
    std::vector<std::vector<std::uint32_t>> starting_, live_;  // pieces, by section
    // the state of the search
    Units height_ = 0;
    bool is_lifted_ = false, is_free_ = false;
    Status status_ = FAILED;
    std::vector<std::int64_t> weights_;
    std::vector<Standing> standing_;  // by piece
    std::priority_queue<Waiting> waiting_;
    std::int64_t arrivals_ = 0;
    std::vector<std::size_t> settled_;
    std::size_t next_ = 0;
    // scratch
    std::vector<std::pair<const Piece*, const Standing*>> near_;
    std::vector<std::pair<Units, std::int64_t>> events_, ordered_;
    std::vector<std::ptrdiff_t> bounds_, next_of_;
    std::vector<std::size_t> ejected_;
};

}  // namespace
}  // namespace memopt

using memopt::Ejections;

void* memopt_ejections_create(const std::int64_t* numbers, std::int64_t count) try {
    return std::make_unique<Ejections>(numbers, count).release();
} catch (const std::exception&) {
    return nullptr;
}

std::int32_t memopt_ejections_begin(void* search, const std::int64_t* offsets,
                                    std::int64_t height) try {
    return static_cast<Ejections*>(search)->begin(offsets, height) ? 0 : 1;
} catch (const std::exception&) {
    return 1;
}

void memopt_ejections_lift(void* search, std::int64_t height) {
    static_cast<Ejections*>(search)->lift(height);
}

std::int32_t memopt_ejections_advance(void* search, std::int64_t pause, std::int64_t* outcome) {
    return memopt::advance_search(search, pause, outcome, &Ejections::work);
}

void memopt_ejections_offsets(const void* search, std::int64_t* offsets) {
    memopt::copy_offsets<Ejections>(search, offsets);
}

void memopt_ejections_destroy(void* search) { delete static_cast<Ejections*>(search); }
