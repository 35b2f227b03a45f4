// Depth-first search over the corners of the skyline: the loops of
// solvers/placement/skyline_corners.py and skyline.py, which explain them and are the reference.
// The same nodes are looked at in the same order. Frames are kept here and not on the stack, so
// that depth costs memory alone, and the search can pause at any node.
//
// Stream: items n, sections, failed states that are remembered, then whether failures, backjumping,
// walls, weights and flush (rules.py) are on. Per item: first section, end, size. Per section:
// height of the skyline, budget.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "interface.hpp"
#include "masks.hpp"
#include "paused_search.hpp"
#include "stream.hpp"

namespace memopt {
namespace {

using Units = std::int64_t;
using Row = std::vector<Word>;

constexpr Units OUTSIDE = Units{1} << 62;
constexpr std::int64_t MOST_ITEMS = 1 << 15, MOST_SECTIONS = 1 << 16;
constexpr std::int64_t MOST_BITS = std::int64_t{1} << 32;  // of a table of sets by section
constexpr std::uint32_t FREE = std::numeric_limits<std::uint32_t>::max();

enum Status : std::int64_t { PAUSED, STOPPED, SOLVED, FAILED };

struct Strip {
    std::size_t n, sections, remembered;
    bool failures, backjumping, walls, weights, flush;
    std::vector<int> first, last;
    std::vector<Units> sizes, skyline, budget;
};

Strip read_strip(Stream& stream) {
    Strip s{};
    s.n = static_cast<std::size_t>(stream.next(0, MOST_ITEMS));
    s.sections = static_cast<std::size_t>(stream.next(0, MOST_SECTIONS));
    if (static_cast<std::int64_t>(s.n * s.sections) > MOST_BITS) throw Refused("large tables");
    s.remembered = static_cast<std::size_t>(stream.next(1, 1 << 28));
    for (bool* rule : {&s.failures, &s.backjumping, &s.walls, &s.weights, &s.flush})
        *rule = stream.next(0, 1);
    const auto end = static_cast<std::int64_t>(s.sections);
    for (std::size_t i = 0; i < s.n; ++i) {
        s.first.push_back(static_cast<int>(stream.next(0, end - 1)));
        s.last.push_back(static_cast<int>(stream.next(s.first.back() + 1, end)));
        s.sizes.push_back(stream.bytes(1));
    }
    for (std::size_t t = 0; t < s.sections; ++t) {
        s.skyline.push_back(stream.next(0, LARGEST_SUM));
        s.budget.push_back(stream.next(0, LARGEST_SUM));
    }
    stream.finish();
    return s;
}

// The order in which CPython goes through a set of these four numbers.
class FewNumbers {
  public:
    explicit FewNumbers(const int (&numbers)[4]) {
        for (int number : numbers) {
            auto perturbed = static_cast<std::uint64_t>(number);
            std::uint64_t at = perturbed & 7;
            while (slots_[at] >= 0 && slots_[at] != number) {
                perturbed >>= 5;
                at = (at * 5 + 1 + perturbed) & 7;
            }
            slots_[at] = number;
        }
    }
    const int* begin() const { return slots_; }
    const int* end() const { return slots_ + 8; }  // those below 0 are none

  private:
    int slots_[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
};

class Corners {
  public:
    virtual ~Corners() = default;
    virtual void begin(const std::int64_t* rank, bool interior, std::int64_t limit) = 0;
    virtual Status advance(std::int64_t pause) = 0;

    std::int64_t nodes = 0;
    std::vector<std::int64_t> offsets;
};

template <std::size_t Fixed>
class CornerSearch final : public Corners {
  public:
    CornerSearch(Strip strip, double slack_costs)
        : s_(std::move(strip)),
          items_(words_for(s_.n)),
          width_(words_for(s_.sections)),
          slack_costs_(slack_costs) {
        const std::size_t words = items_.words(), events = s_.sections + 1;
        for (Row* table : {&starting_, &ending_, &from_, &until_, &crossing_})
            table->assign(events * words, 0);
        covering_.assign(events * words, 0);
        every_.assign(words, 0);
        for (std::size_t i = 0; i < s_.n; ++i) {
            put(every_.data(), i);
            put(&starting_[index(s_.first[i])], i);
            put(&ending_[index(s_.last[i])], i);
        }
        Row set(words, 0);
        for (std::size_t t = events; t-- > 0;) {
            items_.unite(set.data(), &starting_[t * words]);
            items_.copy(&from_[t * words], set.data());
        }
        std::fill(set.begin(), set.end(), 0);
        for (std::size_t t = 0; t < events; ++t) {
            items_.unite(set.data(), &ending_[t * words]);
            items_.copy(&until_[t * words], set.data());
            for (std::size_t w = 0; w < words; ++w) {
                const std::size_t at = t * words + w;
                crossing_[at] = every_[w] & ~(from_[at] | until_[at]);
                covering_[at] = crossing_[at] | starting_[at];
            }
        }
        weights_.assign(events, 1.0);
        rank_.assign(s_.n, 0);
        offsets.assign(s_.n, 0);
        found_.assign(width_.words(), 0);
        inside_.assign(words, 0);
        table_.assign(1 << 10, FREE);
        reset();
    }

    void begin(const std::int64_t* rank, bool interior, std::int64_t limit) override {
        std::copy(rank, rank + s_.n, rank_.begin());
        interior_ = interior;
        limit_ = limit;
        reset();
    }

    Status advance(std::int64_t pause) override {
        if (status_ != PAUSED) return status_;
        pause_ = pause;
        if (depth_ == 0) call(0, static_cast<int>(s_.sections));
        while (status_ == PAUSED) {
            if (answer_ == Answer::NONE) {
                if (nodes >= pause_) return PAUSED;
                next_item(top());
            } else if (depth_ == 0) {
                status_ = answer_ == Answer::SOLVED ? SOLVED : FAILED;
            } else {
                deliver(top());
            }
        }
        return status_;
    }

  private:
    enum class Stage { ITEM, PARTS, RAISE };
    enum class Answer { NONE, SOLVED, FAILED };

    // Sections [left, right) at one level between walls; the branches for section `at`.
    struct Valley {
        int at = 0, event = 0, left = 0, right = 0;
        Units level = 0, walls[2] = {0, 0};
    };

    struct Frame {
        int x = 0, y = 0;
        Stage stage = Stage::ITEM;
        Valley valley;
        Row inside, reason, key, left;
        std::vector<int> items;
        std::vector<std::pair<int, int>> parts;
        std::size_t item = 0, part = 0;
        Units loss = 0;
        std::vector<Units> skyline, budget, wasted;
    };

    std::size_t index(int event) const { return static_cast<std::size_t>(event) * items_.words(); }
    Units& sky(int t) { return s_skyline_[static_cast<std::size_t>(t)]; }
    Units& budget(int t) { return budget_[static_cast<std::size_t>(t)]; }
    double& weight(int t) { return weights_[static_cast<std::size_t>(t)]; }
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    Frame& top() { return *frames_[depth_ - 1]; }

    void reset() {
        s_skyline_ = s_.skyline;
        budget_ = s_.budget;
        wasted_.assign(s_.sections, 0);
        left_ = every_;
        depth_ = 0;
        answer_ = Answer::NONE;
        status_ = PAUSED;
    }

    void span(Row& row, int from, int to) const {
        for (int t = from; t < to; ++t) put(row.data(), at(t));
    }

    bool any_left(const Word* set) const {
        for (std::size_t w = 0; w < items_.words(); ++w)
            if (left_[w] & set[w]) return true;
        return false;
    }

    // Place all items left in sections [x, y), which none of them leaves: an answer, or a frame.
    void call(int x, int y) {
        key_.clear();
        key_.push_back(static_cast<Word>(x) << 32 | static_cast<Word>(y));
        bool any = false;
        for (std::size_t w = 0; w < items_.words(); ++w) {
            const Word word = left_[w] & from_[index(x) + w] & until_[index(y) + w];
            any |= word != 0;
            key_.push_back(word);
        }
        if (!any) {
            answer_ = Answer::SOLVED;
            return;
        }
        for (int t = x; t < y; ++t)
            if (wasted_[at(t)]) {
                key_.push_back(static_cast<Word>(t));
                key_.push_back(static_cast<Word>(wasted_[at(t)]));
            }
        if (const Word* known = known_failure()) {
            std::copy(known, known + width_.words(), found_.begin());
            answer_ = Answer::FAILED;
            return;
        }
        if (++nodes > limit_) {
            status_ = STOPPED;
            return;
        }
        if (depth_ == frames_.size()) frames_.push_back(std::make_unique<Frame>());
        Frame& frame = *frames_[depth_++];
        frame.x = x;
        frame.y = y;
        frame.key = key_;
        frame.item = 0;
        choose(frame);
        looked_at(frame);
        if (frame.items.empty() && s_.weights) weight(frame.valley.event) += 1;
        answer_ = Answer::NONE;
    }

    int count(const Word* a, const Word* b) const {
        int total = 0;
        for (std::size_t w = 0; w < items_.words(); ++w) total += std::popcount(a[w] & b[w]);
        return total;
    }

    // The valley and section with the fewest branches; slack counts as some.
    void choose(Frame& frame) {
        const int x = frame.x, y = frame.y;
        Valley best;
        double fewest = static_cast<double>(OUTSIDE);
        frame.inside.assign(items_.words(), 0);
        Units wall = OUTSIDE;
        for (int start = x, end; start < y; start = end) {
            for (end = start + 1; end < y && sky(end) == sky(start);) ++end;
            const Units level = sky(start), after = end < y ? sky(end) : OUTSIDE;
            if (wall > level && level < after) {
                for (std::size_t w = 0; w < items_.words(); ++w)
                    inside_[w] = left_[w] & from_[index(start) + w] & until_[index(end) + w];
                const double before = fewest;
                for (int corner = 0; corner < (end - start > 1 ? 2 : 1); ++corner) {
                    const int section = corner ? end - 1 : start, event = corner ? end : start;
                    const Row& items = corner ? ending_ : starting_;
                    const int branches = count(&items[index(event)], inside_.data());
                    const Units slack = budget(section);
                    double value = static_cast<double>(level) - 1e18;
                    if (branches && (branches != 1 || slack))
                        value = (branches + static_cast<double>(slack) * slack_costs_) /
                                weight(event);
                    if (value < fewest) {
                        fewest = value;
                        best.at = section;
                        best.event = event;
                    }
                }
                if (interior_ && end - start > 2 && fewest > 2) {
                    const double corners = fewest;
                    for (int t = start; t < end; ++t) {
                        const double slack = static_cast<double>(budget(t)) * slack_costs_;
                        const double cost = count(&covering_[index(t)], inside_.data()) + slack;
                        const double value = cost / std::max(weight(t), weight(t + 1));
                        if (value < fewest) {
                            fewest = value;
                            best.at = t;
                        }
                    }
                    if (fewest < corners) best.event = best.at + 1;
                }
                if (fewest < before) {
                    best.left = start;
                    best.right = end;
                    best.level = level;
                    best.walls[0] = wall;
                    best.walls[1] = after;
                    frame.inside = inside_;
                }
            }
            wall = level;
        }
        frame.valley = best;
        order_items(frame);
    }

    // The items that can come next, those first that leave no step.
    void order_items(Frame& frame) {
        const Valley& v = frame.valley;
        frame.items.clear();
        keyed_.clear();
        const Word* covering = &covering_[index(v.at)];
        for (std::size_t w = 0; w < items_.words(); ++w)
            for (Word rest = covering[w] & frame.inside[w]; rest; rest &= rest - 1)
                keyed_.push_back({0, static_cast<int>(w * 64 + at(std::countr_zero(rest)))});
        const bool flush = s_.flush && keyed_.size() > 1;
        for (auto& [key, i] : keyed_) {
            key = rank_[at(i)];
            if (!flush) continue;
            const Units ends = v.level + s_.sizes[at(i)];
            const bool from_left = s_.first[at(i)] == v.left, to_right = s_.last[at(i)] == v.right;
            const bool is_level =
                (from_left && ends == v.walls[0]) || (to_right && ends == v.walls[1]);
            key -= static_cast<std::int64_t>(s_.n) * (is_level + (from_left && to_right));
        }
        std::sort(keyed_.begin(), keyed_.end());
        for (const auto& [key, i] : keyed_) frame.items.push_back(i);
    }

    // The sections whose state says that the items are all that can lie on the floor.
    void looked_at(Frame& frame) {
        const Valley& v = frame.valley;
        frame.reason.assign(width_.words(), 0);
        put(frame.reason.data(), at(v.at));
        const bool corner = v.at == v.left;
        if (v.left > frame.x && (corner || v.event != v.left))
            put(frame.reason.data(), at(v.left - 1));
        bool blocked = !corner;
        const Word* starting = &starting_[index(v.left)];
        for (std::size_t w = 0; w < items_.words() && !blocked; ++w)
            blocked = left_[w] & starting[w] & ~frame.inside[w];
        if (v.right < frame.y && (blocked || v.at == v.right - 1))
            put(frame.reason.data(), at(v.right));
    }

    void flip(int i) { left_[at(i) >> 6] ^= Word{1} << (i & 63); }

    void fill(int i, Units level) {
        for (int t = s_.first[at(i)]; t < s_.last[at(i)]; ++t) sky(t) = level;
    }

    // Try the next item on the floor, or raise the section when there is none.
    void next_item(Frame& frame) {
        const Valley& v = frame.valley;
        if (frame.item == frame.items.size()) {
            raise(frame);
            return;
        }
        const int i = frame.items[frame.item], first = s_.first[at(i)], last = s_.last[at(i)];
        fill(i, v.level + s_.sizes[at(i)]);
        flip(i);
        offsets[at(i)] = v.level;
        frame.stage = Stage::ITEM;
        if (s_.walls && is_stuck(frame, {first, last, v.left, v.right}))
            answer_ = Answer::FAILED;
        else
            place_parts(frame, first, last);
    }

    // Go on in parts that no item left connects, where [first, last) was just covered.
    void place_parts(Frame& frame, int first, int last) {
        frame.parts.clear();
        int from = frame.x;
        for (int t = first + 1; t < last; ++t)
            if (!any_left(&crossing_[index(t)])) {
                frame.parts.push_back({from, t});
                from = t;
            }
        if (frame.parts.empty()) {
            call(frame.x, frame.y);
            return;
        }
        frame.parts.push_back({from, frame.y});
        std::stable_sort(frame.parts.begin(), frame.parts.end(), [](const auto& a, const auto& b) {
            return a.second - a.first < b.second - b.first;
        });
        frame.stage = Stage::PARTS;
        frame.part = 0;
        const auto x = frame.x, y = frame.y;
        frame.skyline.assign(s_skyline_.begin() + x, s_skyline_.begin() + y);
        frame.budget.assign(budget_.begin() + x, budget_.begin() + y);
        frame.wasted.assign(wasted_.begin() + x, wasted_.begin() + y);
        frame.left = left_;
        call(frame.parts[0].first, frame.parts[0].second);
    }

    void raise(Frame& frame) {
        const Valley& v = frame.valley;
        if (!budget(v.at)) {
            fail(frame, frame.reason);
            return;
        }
        span(frame.reason, std::max(frame.x, v.left - 1), std::min(frame.y, v.right + 1));
        Units level = std::min(v.walls[0], v.walls[1]);
        const Word* covering = &covering_[index(v.at)];
        for (std::size_t w = 0; w < items_.words(); ++w)
            for (Word rest = frame.inside[w] & ~covering[w]; rest; rest &= rest - 1)
                level =
                    std::min(level, v.level + s_.sizes[w * 64 + at(std::countr_zero(rest))]);
        frame.loss = level - v.level;
        if (frame.loss > budget(v.at)) {
            fail(frame, frame.reason);
            return;
        }
        waste(v.at, frame.loss);
        frame.stage = Stage::RAISE;
        if (s_.walls && is_stuck(frame, {v.at, v.at + 1, v.left, v.right}))
            answer_ = Answer::FAILED;
        else
            call(frame.x, frame.y);
    }

    void waste(int t, Units loss) {
        sky(t) += loss;
        budget(t) -= loss;
        wasted_[at(t)] += loss;
    }

    // Take the answer to what the frame asked last; `found_` says why it failed.
    void deliver(Frame& frame) {
        const bool solved = answer_ == Answer::SOLVED;
        if (frame.stage == Stage::PARTS) {
            if (solved && ++frame.part < frame.parts.size()) {
                call(frame.parts[frame.part].first, frame.parts[frame.part].second);
                return;
            }
            if (!solved) {
                std::copy(frame.skyline.begin(), frame.skyline.end(), s_skyline_.begin() + frame.x);
                std::copy(frame.budget.begin(), frame.budget.end(), budget_.begin() + frame.x);
                std::copy(frame.wasted.begin(), frame.wasted.end(), wasted_.begin() + frame.x);
                left_ = frame.left;
            }
        }
        if (solved) {
            --depth_;
            return;
        }
        if (frame.stage == Stage::RAISE) {
            waste(frame.valley.at, -frame.loss);
            if (has(found_.data(), at(frame.valley.at)))
                width_.unite(found_.data(), frame.reason.data());
            fail(frame, found_);
            return;
        }
        const int i = frame.items[frame.item];
        fill(i, frame.valley.level);
        flip(i);
        bool depends = false;
        for (int t = s_.first[at(i)]; t < s_.last[at(i)] && !depends; ++t)
            depends = has(found_.data(), at(t));
        if (!depends) {
            fail(frame, found_);
            return;
        }
        width_.unite(frame.reason.data(), found_.data());
        ++frame.item;
        answer_ = Answer::NONE;
    }

    // The frame cannot be solved, for `reason`, which is remembered.
    void fail(Frame& frame, const Row& reason) {
        if (&reason != &found_) found_ = reason;
        if (!s_.backjumping) {
            std::fill(found_.begin(), found_.end(), 0);
            span(found_, frame.x, frame.y);
        }
        if (s_.failures) remember(frame.key);
        answer_ = Answer::FAILED;
        --depth_;
    }

    bool is_stuck(const Frame& frame, const int (&events)[4]) {
        for (int event : FewNumbers(events)) {
            if (event <= frame.x || event >= frame.y) continue;
            if (!any_left(&crossing_[index(event)]) || !is_step(frame.x, frame.y, event)) continue;
            if (s_.weights) weight(event) += 1;
            return true;
        }
        return false;
    }

    // Whether nothing can fill the step of the skyline at an event; `found_` says why.
    bool is_step(int x, int y, int event) {
        const Units rise = sky(event) - sky(event - 1);
        Units needs = rise < 0 ? -rise - budget(event) : rise - budget(event - 1);
        if (needs <= 0) return false;
        const Row& items = rise < 0 ? starting_ : ending_;
        int wall = rise < 0 ? event : event - 1;
        const Word* room = nullptr;
        if (rise < 0) {
            while (wall < y && sky(wall) < sky(event - 1)) ++wall;
            room = &until_[index(wall)];
        } else {
            while (wall >= x && sky(wall) < sky(event)) --wall;
            room = &from_[index(wall + 1)];
        }
        bool all_fit = true;
        for (std::size_t w = 0; w < items_.words(); ++w) {
            const Word here = items[index(event) + w] & left_[w];
            all_fit &= !(here & ~room[w]);
            for (Word rest = here & room[w]; rest; rest &= rest - 1) {
                needs -= s_.sizes[w * 64 + at(std::countr_zero(rest))];
                if (needs <= 0) return false;
            }
        }
        std::fill(found_.begin(), found_.end(), 0);
        put(found_.data(), at(event - 1));
        put(found_.data(), at(event));
        if (!all_fit && x <= wall && wall < y) put(found_.data(), at(wall));
        return true;
    }

    struct Failure {
        std::size_t key, length, reason;
    };

    static Word hash(const Word* key, std::size_t length) {
        Word h = length;
        for (std::size_t i = 0; i < length; ++i) {
            h = (h ^ key[i]) * 0x9ddfea08eb382d69ULL;
            h ^= h >> 32;
        }
        return mix(h);
    }

    // The place of a key in the table, free or not.
    std::size_t slot(const Word* key, std::size_t length) const {
        const std::size_t mask = table_.size() - 1;
        std::size_t place = hash(key, length) & mask;
        for (; table_[place] != FREE; place = (place + 1) & mask) {
            const Failure& f = failures_[table_[place]];
            if (f.length == length && std::equal(key, key + length, &keys_[f.key])) break;
        }
        return place;
    }

    const Word* known_failure() const {
        const auto known = table_[slot(key_.data(), key_.size())];
        return known == FREE ? nullptr : &keys_[failures_[known].reason];
    }

    // Remember that the state `key` fails for `found_`.
    void remember(const Row& key) {
        if (failures_.size() >= s_.remembered) {
            failures_.clear();
            keys_.clear();
            std::fill(table_.begin(), table_.end(), FREE);
        }
        const std::size_t place = slot(key.data(), key.size());
        if (table_[place] != FREE) {
            std::copy(found_.begin(), found_.end(),
                      keys_.begin() +
                          static_cast<std::ptrdiff_t>(failures_[table_[place]].reason));
            return;
        }
        table_[place] = static_cast<std::uint32_t>(failures_.size());
        failures_.push_back({keys_.size(), key.size(), keys_.size() + key.size()});
        keys_.insert(keys_.end(), key.begin(), key.end());
        keys_.insert(keys_.end(), found_.begin(), found_.end());
        if (failures_.size() * 2 <= table_.size()) return;
        table_.assign(table_.size() * 2, FREE);
        for (std::size_t f = 0; f < failures_.size(); ++f)
            table_[slot(&keys_[failures_[f].key], failures_[f].length)] =
                static_cast<std::uint32_t>(f);
    }

    const Strip s_;
    const Width<Fixed> items_;
    const Width<0> width_;  // of sets of sections
    const double slack_costs_;
    Row every_, starting_, ending_, from_, until_, crossing_, covering_;  // sets of items, by event
    // the state of the search
    Row left_;
    std::vector<Units> s_skyline_, budget_, wasted_;
    std::vector<double> weights_;
    std::vector<std::int64_t> rank_;
    bool interior_ = false;
    std::int64_t limit_ = 0, pause_ = 0;
    std::vector<std::unique_ptr<Frame>> frames_;
    std::size_t depth_ = 0;
    Answer answer_ = Answer::NONE;
    Status status_ = PAUSED;
    Row found_;  // sections that say why the last answer was no
    // failed states: their keys, each with its reason behind it
    Row keys_;
    std::vector<Failure> failures_;
    std::vector<std::uint32_t> table_;
    // scratch
    Row key_, inside_;
    std::vector<std::pair<std::int64_t, int>> keyed_;
};

std::unique_ptr<Corners> make(Strip strip, double slack_costs) {
    const std::size_t words = words_for(strip.n);
    if (words == 1) return std::make_unique<CornerSearch<1>>(std::move(strip), slack_costs);
    if (words == 2) return std::make_unique<CornerSearch<2>>(std::move(strip), slack_costs);
    if (words <= 4) return std::make_unique<CornerSearch<4>>(std::move(strip), slack_costs);
    return std::make_unique<CornerSearch<0>>(std::move(strip), slack_costs);
}

}  // namespace
}  // namespace memopt

using memopt::Corners;

void* memopt_corners_create(const std::int64_t* numbers, std::int64_t count,
                            double slack_costs) try {
    if (!(slack_costs >= 0 && slack_costs <= 1)) return nullptr;
    memopt::Stream stream(numbers, count);
    return memopt::make(memopt::read_strip(stream), slack_costs).release();
} catch (const std::exception&) {
    return nullptr;
}

void memopt_corners_begin(void* search, const std::int64_t* rank, std::int32_t interior,
                          std::int64_t limit) {
    static_cast<Corners*>(search)->begin(rank, interior != 0, limit);
}

std::int32_t memopt_corners_advance(void* search, std::int64_t pause, std::int64_t* outcome) {
    return memopt::advance_search(search, pause, outcome, &Corners::nodes);
}

void memopt_corners_offsets(const void* search, std::int64_t* offsets) {
    memopt::copy_offsets<Corners>(search, offsets);
}

void memopt_corners_destroy(void* search) { delete static_cast<Corners*>(search); }
