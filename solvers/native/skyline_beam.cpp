// A beam of skylines: the loops of solvers/placement/skyline_beam.py, which explains them and is the
// reference. The same states in the same order, but that two of the same hash are taken as one.
//
// Stream: items n, sections. Per item: first section, end, size. Per section: height of the skyline,
// budget.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_set>
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
constexpr int CHOICES = 8;
constexpr std::size_t FEW = 6;

enum Status : std::int64_t { PAUSED, SOLVED, FAILED };

class Beam {
  public:
    Beam(const std::int64_t* numbers, std::int64_t count) {
        Stream stream(numbers, count);
        n_ = static_cast<std::size_t>(stream.next(0, MOST_ITEMS));
        sections_ = static_cast<std::size_t>(stream.next(0, MOST_SECTIONS));
        if (static_cast<std::int64_t>(n_ * sections_) > MOST_BITS) throw Refused("large tables");
        const auto end = static_cast<std::int64_t>(sections_);
        for (std::size_t i = 0; i < n_; ++i) {
            first_.push_back(static_cast<std::size_t>(stream.next(0, end - 1)));
            last_.push_back(static_cast<std::size_t>(
                stream.next(static_cast<std::int64_t>(first_.back()) + 1, end)));
            sizes_.push_back(stream.bytes(1));
        }
        for (std::size_t t = 0; t < sections_; ++t) {
            skyline_.push_back(stream.next(0, LARGEST_SUM));
            budget_.push_back(stream.next(0, LARGEST_SUM));
        }
        stream.finish();
        words_ = words_for(n_);
        for (Row* table : {&from_, &until_, &crossing_, &covering_})
            table->assign((sections_ + 1) * words_, 0);
        starts_.resize(sections_ + 1);
        ends_.resize(sections_ + 1);
        every_.assign(words_, 0);
        for (std::size_t i = 0; i < n_; ++i) {
            put(every_.data(), i);
            starts_[first_[i]].push_back(i);
            ends_[last_[i]].push_back(i);
            for (std::size_t t = 0; t <= first_[i]; ++t) put(&from_[t * words_], i);
            for (std::size_t t = last_[i]; t <= sections_; ++t) put(&until_[t * words_], i);
            for (std::size_t t = first_[i]; t < last_[i]; ++t) {
                put(&covering_[t * words_], i);
                if (t > first_[i]) put(&crossing_[t * words_], i);
            }
        }
        offsets.assign(n_, 0);
        steps_.resize(sections_ + 1);
    }

    void begin(std::size_t width, const std::int64_t* weights) {
        width_ = width;
        weights_.clear();
        for (std::size_t t = 0; t < sections_; ++t)
            weights_.push_back(std::bit_cast<double>(weights[t]));
        records_.clear();
        beam_.assign(1, {skyline_, budget_, every_, -1, 0});
        status_ = n_ ? PAUSED : SOLVED;
        next_level();
    }

    Status advance(std::int64_t pause) {
        while (status_ == PAUSED && work < pause) {
            if (position_ < beam_.size())
                expand(beam_[position_++]);
            else if (candidates_.empty())
                status_ = FAILED;
            else
                select();
        }
        return status_;
    }

    std::int64_t work = 0;
    std::vector<Units> offsets;

  private:
    struct State {
        std::vector<Units> skyline, budget;
        Row left;
        std::int64_t record = -1;
        Word hash = 0;
    };
    struct Stage {  // of a state: before a corner was raised further
        std::vector<Units> skyline, budget;
        std::size_t state;
    };
    struct Step {  // of the skyline, which some item left crosses
        bool falls = false, rises = false;
        std::size_t wall = 0;  // the end, or the first, of the lower sections beside it
        Units left_lost = 0, right_lost = 0;
    };
    struct Candidate {
        double rating;
        std::size_t stage, item;
        Units level;
        Word hash;
    };
    struct Record {
        std::int64_t before;
        std::size_t item;
        Units level;
    };
    struct Corner {
        std::size_t at = 0, start = 0, end = 0;
        const std::vector<std::size_t>* items = nullptr;
        Units level = 0, next = 0;
    };

    bool meets(const Row& set, const Word* other) const {
        for (std::size_t w = 0; w < words_; ++w)
            if (set[w] & other[w]) return true;
        return false;
    }

    void next_level() {
        position_ = 0;
        candidates_.clear();
        stages_.clear();
        seen_.clear();
    }

    void select() {
        order_.resize(candidates_.size());
        for (std::size_t k = 0; k < order_.size(); ++k) order_[k] = k;
        const std::size_t kept = std::min(width_, order_.size());
        std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(kept),
                          order_.end(), [&](std::size_t a, std::size_t b) {
                              const double x = candidates_[a].rating, y = candidates_[b].rating;
                              return x < y || (x == y && a < b);
                          });
        std::vector<State> next;
        next.reserve(kept);
        for (std::size_t k = 0; k < kept; ++k) {
            const Candidate& c = candidates_[order_[k]];
            const Stage& stage = stages_[c.stage];
            const State& before = beam_[stage.state];
            records_.push_back({before.record, c.item, c.level});
            next.push_back({stage.skyline, stage.budget, before.left,
                            static_cast<std::int64_t>(records_.size()) - 1, c.hash});
            State& state = next.back();
            for (std::size_t t = first_[c.item]; t < last_[c.item]; ++t)
                state.skyline[t] = c.level + sizes_[c.item];
            flip(state.left, c.item);
        }
        beam_.swap(next);
        next_level();
        for (Word word : beam_[0].left)
            if (word) return;
        for (auto at = beam_[0].record; at >= 0;) {
            const Record& record = records_[static_cast<std::size_t>(at)];
            offsets[record.item] = record.level;
            at = record.before;
        }
        status_ = SOLVED;
    }

    static void flip(Row& set, std::size_t i) { set[i >> 6] ^= Word{1} << (i & 63); }
    static Word hash_of(std::size_t section) { return mix(Word{section} * 2 + 1) | 1; }

    void expand(const State& state) {
        sky_ = state.skyline;
        spare_ = state.budget;
        left_ = state.left;
        Word hash = state.hash;
        undone_.clear();
        for (std::size_t t = 1; t < sections_; ++t) look_at(t);
        for (int choices = 0; choices < CHOICES;) {
            ++work;
            Corner corner;
            if (!find(corner)) return;
            const std::size_t known = candidates_.size();
            bool any = false;
            for (std::size_t i : *corner.items)
                if (fits(i, corner.start, corner.end)) {
                    any = true;
                    place(i, corner.level, hash);
                }
            if (candidates_.size() > known) stages_.push_back({sky_, spare_, position_ - 1});
            choices += any;
            const bool is_needed = meets(left_, &covering_[corner.at * words_]);
            const Units loss = corner.next - corner.level;
            if (corner.next == OUTSIDE || (is_needed && loss > spare_[corner.at])) return;
            sky_[corner.at] = corner.next;
            hash += hash_of(corner.at) * static_cast<Word>(loss);
            if (is_needed) spare_[corner.at] -= loss;
            undone_.clear();
            raised(corner.at, corner.at + 1);
        }
    }

    // A candidate, if it is new and can be completed as far as its steps say.
    void place(std::size_t i, Units level, Word hash) {
        ++work;
        const std::size_t first = first_[i], last = last_[i];
        for (std::size_t t = first; t < last; ++t) {
            sky_[t] = level + sizes_[i];
            hash += hash_of(t) * static_cast<Word>(sizes_[i]);
        }
        hash += mix(i + (Word{1} << 32));
        flip(left_, i);
        if (seen_.insert(hash).second) {
            undone_.clear();
            raised(first, last);
            double rating = 0;
            if (rate(rating)) candidates_.push_back({rating, stages_.size(), i, level, hash});
            for (const auto& [t, step] : undone_) steps_[t] = step;
        }
        flip(left_, i);
        for (std::size_t t = first; t < last; ++t) sky_[t] = level;
    }

    // The items left between two events.
    Word inside(std::size_t start, std::size_t end, std::size_t w) const {
        return left_[w] & from_[start * words_ + w] & until_[end * words_ + w];
    }

    bool any_inside(std::size_t start, std::size_t end) const {
        for (std::size_t w = 0; w < words_; ++w)
            if (inside(start, end, w)) return true;
        return false;
    }

    bool fits(std::size_t i, std::size_t start, std::size_t end) const {
        return has(left_.data(), i) && first_[i] >= start && last_[i] <= end;
    }

    // The corner with the fewest branches, the lowest of several.
    bool find(Corner& best) const {
        bool any = false;
        int kind = 2, fewest = 0;
        for (std::size_t start = 0, end; start < sections_; start = end) {
            const Units level = sky_[start];
            for (end = start + 1; end < sections_ && sky_[end] == level;) ++end;
            const Units low = std::min(start ? sky_[start - 1] : OUTSIDE,
                                       end < sections_ ? sky_[end] : OUTSIDE);
            if (low <= level) continue;
            for (int right = 0; right < (end - start > 1 ? 2 : 1); ++right) {
                const std::size_t at = right ? end - 1 : start;
                const auto& items = right ? ends_[end] : starts_[start];
                int count = 0;
                for (std::size_t i : items) count += fits(i, start, end);
                if (!count && !meets(left_, &covering_[at * words_]) && !any_inside(start, end))
                    continue;
                const bool forced = !count || (count == 1 && !spare_[at]);
                const int value_kind = forced ? 0 : 1, value = forced ? 0 : count;
                if (std::pair(std::pair(value_kind, value), level) >=
                    std::pair(std::pair(kind, fewest), best.level))
                    continue;
                any = true;
                kind = value_kind;
                fewest = value;
                best = {at, start, end, &items, level, low};
            }
        }
        for (std::size_t w = 0; any && w < words_; ++w)
            for (Word rest = inside(best.start, best.end, w); rest; rest &= rest - 1) {
                const auto i = w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
                if (first_[i] > best.at || last_[i] <= best.at)
                    best.next = std::min(best.next, best.level + sizes_[i]);
            }
        return any;
    }

    // Whether no section loses more than it can; what is lost, or will be, by what it counts.
    bool rate(double& total) {
        if (std::all_of(left_.begin(), left_.end(), [](Word word) { return !word; })) {
            total = static_cast<double>(*std::max_element(sky_.begin(), sky_.end()));
            return true;
        }
        for (std::size_t t = 0; t < sections_; ++t) {
            const Units lost = std::max(steps_[t].right_lost, steps_[t + 1].left_lost);
            if (lost > spare_[t]) return false;
            total += weights_[t] * static_cast<double>(budget_[t] - spare_[t] + lost);
        }
        return true;
    }

    // Look again at the steps that change where sections [first, last) became higher.
    void raised(std::size_t first, std::size_t last) {
        const Units top = sky_[first];
        Units high = -1;
        for (std::size_t t = first; t-- > 1 && (high = std::max(high, sky_[t])) < top;)
            if (steps_[t].falls && steps_[t].wall > first && top >= sky_[t - 1]) look_at(t);
        for (std::size_t t = std::max<std::size_t>(1, first); t < std::min(last + 1, sections_); ++t)
            look_at(t);
        high = -1;
        for (std::size_t t = last + 1;
             t < sections_ && (high = std::max(high, sky_[t - 1])) < top; ++t)
            if (steps_[t].rises && steps_[t].wall < last && top >= sky_[t]) look_at(t);
    }

    // What is lost at the step between sections t - 1 and t.
    void look_at(std::size_t t) {
        undone_.push_back({t, steps_[t]});
        Step& step = steps_[t] = {};
        const Units before = sky_[t - 1], after = sky_[t];
        if (before == after || !meets(left_, &crossing_[t * words_])) return;
        few_.clear();
        step.falls = after < before;
        step.rises = !step.falls;
        if (step.falls) {
            step.wall = t;
            while (step.wall < sections_ && sky_[step.wall] < before) ++step.wall;
            for (std::size_t i : starts_[t])
                if (has(left_.data(), i) && last_[i] <= step.wall) few_.push_back(sizes_[i]);
            step.right_lost = before - after - filled(before - after);
        } else {
            step.wall = t;
            while (step.wall > 0 && sky_[step.wall - 1] < after) --step.wall;
            for (std::size_t i : ends_[t])
                if (has(left_.data(), i) && first_[i] >= step.wall) few_.push_back(sizes_[i]);
            step.left_lost = after - before - filled(after - before);
        }
    }

    // The most of `room` that some of `few_` fill; all of it where they are too many to tell.
    Units filled(Units room) {
        few_.erase(std::remove_if(few_.begin(), few_.end(), [&](Units s) { return s > room; }),
                   few_.end());
        Units sum = 0, best = 0;
        for (Units size : few_) sum += size;
        if (sum <= room) return sum;
        if (few_.size() > FEW) return room;
        Units sums[1 << FEW] = {};
        for (std::size_t set = 1; set < std::size_t{1} << few_.size(); ++set) {
            sums[set] = sums[set & (set - 1)] + few_[static_cast<std::size_t>(std::countr_zero(set))];
            if (sums[set] <= room) best = std::max(best, sums[set]);
        }
        return best;
    }

    std::size_t n_, sections_, words_;
    std::vector<std::size_t> first_, last_;
    std::vector<Units> sizes_, skyline_, budget_;
    Row every_, from_, until_, crossing_, covering_;  // sets of items, by event
    std::vector<std::vector<std::size_t>> starts_, ends_;
    // the state of the search
    std::size_t width_ = 1, position_ = 0;
    std::vector<double> weights_;
    Status status_ = FAILED;
    std::vector<State> beam_;
    std::vector<Record> records_;
    std::vector<Stage> stages_;
    std::vector<Candidate> candidates_;
    std::unordered_set<Word> seen_;
    // scratch
    std::vector<Units> sky_, spare_, few_;
    std::vector<Step> steps_;
    std::vector<std::pair<std::size_t, Step>> undone_;
    Row left_;
    std::vector<std::size_t> order_;
};

}  // namespace
}  // namespace memopt

using memopt::Beam;

void* memopt_beam_create(const std::int64_t* numbers, std::int64_t count) try {
    return std::make_unique<Beam>(numbers, count).release();
} catch (const std::exception&) {
    return nullptr;
}

std::int32_t memopt_beam_begin(void* search, std::int64_t width,
                               const std::int64_t* weights) try {
    static_cast<Beam*>(search)->begin(static_cast<std::size_t>(width > 0 ? width : 1), weights);
    return 0;
} catch (const std::exception&) {
    return 1;
}

std::int32_t memopt_beam_advance(void* search, std::int64_t pause, std::int64_t* outcome) {
    return memopt::advance_search(search, pause, outcome, &Beam::work);
}

void memopt_beam_offsets(const void* search, std::int64_t* offsets) {
    memopt::copy_offsets<Beam>(search, offsets);
}

void memopt_beam_destroy(void* search) { delete static_cast<Beam*>(search); }
