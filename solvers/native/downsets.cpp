// Best-first search over downsets on the peak: the loop of solvers/scheduling/best_first.py and
// kill_moves.py, which explain it and are the reference. The same states are taken in the same
// order.
//
// Stream: operators n, bytes of the empty downset, lower bound to begin at, bytes of inputs that
// nobody touches, bytes that a state counts for, commits that a state may follow, then whether
// branches are kill-moves, whether T1 commits, whether dominance drops states. Per operator:
// workspace; groups that it may bring into being (bytes, writers), that may end with it (bytes,
// touchers), that it may overwrite (bytes saved, touchers); predecessors. Events: sets of
// operators. In-place candidates: set of operators, the last one. Per event and candidate: the
// events that block it. Lists begin with their length.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "downsets.hpp"
#include "interface.hpp"
#include "masks.hpp"
#include "stream.hpp"

namespace memopt {
namespace {

using Frontier = std::shared_ptr<const Indices>;

constexpr std::size_t NO_SET = std::numeric_limits<std::size_t>::max();
constexpr std::size_t FEW = 100;  // kill_moves.py's
constexpr std::int64_t LOOK = 16;  // work of a look at an operator or a state; that at a word is 1
constexpr std::int64_t MOST_OPERATORS = 1 << 20;

std::vector<SizedGroup> read_groups(Stream& stream, std::size_t n) {
    std::vector<SizedGroup> groups(stream.count());
    for (auto& group : groups) {
        group.size = stream.bytes();
        group.operators = stream.indices(n);
    }
    return groups;
}

Problem read_problem(Stream& stream, double weight) {
    Problem p{};
    p.weight = weight;
    if (!std::isfinite(weight)) throw Refused("a weight that is no number");
    p.n = static_cast<std::size_t>(stream.next(0, MOST_OPERATORS));
    p.start = stream.bytes(-LARGEST_SUM);
    p.lower = stream.bytes(-LARGEST_SUM);
    p.unread = stream.bytes();
    p.state_bytes = stream.next(0, 1 << 30);
    p.chain = static_cast<int>(stream.next(0, 1 << 20));
    p.by_kills = stream.next(0, 1);
    p.commits = stream.next(0, 1);
    p.dominance = stream.next(0, 1);
    for (std::size_t v = 0; v < p.n; ++v) {
        Operator op{};
        op.extra = stream.bytes(-LARGEST_SUM);
        op.fresh = read_groups(stream, p.n);
        op.freed = read_groups(stream, p.n);
        op.overwritten = read_groups(stream, p.n);
        op.predecessors = stream.indices(p.n);
        p.operators.push_back(std::move(op));
    }
    p.event_count = stream.count();
    for (std::size_t e = 0; e < p.event_count; ++e) stream.row(p.events, p.n);
    const std::size_t candidates = stream.count();
    const std::size_t words = words_for(p.n);
    for (std::size_t c = 0; c < candidates; ++c) {
        stream.row(p.events, p.n);
        p.last.push_back(static_cast<Index>(stream.next(0, static_cast<std::int64_t>(p.n) - 1)));
        if (!has(&p.events[(p.event_count + c) * words], p.last.back()))
            throw Refused("a candidate without its last operator");
    }
    const std::size_t total = p.event_count + candidates;
    p.unblocks.resize(total);
    for (std::size_t e = 0; e < total; ++e) {
        p.blockers.push_back(stream.indices(total));
        for (Index b : p.blockers.back()) p.unblocks[b].push_back(static_cast<Index>(e));
    }
    stream.finish();
    return p;
}

template <std::size_t Fixed>
class Downsets final : public Search {
  public:
    explicit Downsets(Problem problem)
        : p_(std::move(problem)),
          width_(words_for(p_.n)),
          floor_(std::numeric_limits<Bytes>::min()) {
        lower = p_.lower;
        memory = p_.state_bytes;
        full_.assign(width_.words(), 0);
        for (std::size_t v = 0; v < p_.n; ++v) put(full_.data(), v);
        done_ = child_ = move_ = std::vector<Word>(width_.words(), 0);
        seen_.assign(p_.blockers.size(), 0);
        table_.assign(1 << 10, NONE);
        Indices free;
        for (Index e = 0; p_.by_kills && e < p_.blockers.size(); ++e)
            if (p_.blockers[e].empty()) free.push_back(e);
        const Index root = find_or_add(done_.data());
        states_[root].best = lower;
        heap_.push_back(
            {lower, 0.0, 0, root, p_.start, std::make_shared<const Indices>(std::move(free))});
    }

    void advance(std::int64_t count, std::int64_t work, Bytes most_memory, Bytes floor,
                 Bytes ceiling) override {
        if (exhausted) return;
        raise(floor);
        spent_ = 0;
        work_ = work;
        const auto later = [this](const Entry& a, const Entry& b) { return is_later(a, b); };
        const bool is_over = paused && here_.peak >= ceiling;
        if (paused && !is_over && follow(ceiling)) return;
        while (!is_over && !heap_.empty()) {
            if (count <= 0 || spent_ >= work_ || memory > most_memory) return;
            spent_ += LOOK;
            std::pop_heap(heap_.begin(), heap_.end(), later);
            const Entry entry = std::move(heap_.back());
            heap_.pop_back();
            if (entry.peak >= ceiling) break;
            if (states_[entry.state].closed && p_.dominance) continue;
            --count;
            lower = entry.peak;
            ++states;
            here_ = {entry.state, entry.peak, entry.level, entry.frontier, 0, 0};
            states_[entry.state].closed = true;
            width_.copy(done_.data(), row(entry.state));
            expand();
            if (follow(ceiling)) return;
        }
        exhausted = true;
        paused = false;
        lower = ceiling;
    }

    void order(std::int64_t* operators) const override {
        if (goal == NONE) return;
        std::vector<Index> path;
        for (Index s = goal; states_[s].from != NONE && path.size() <= p_.n; s = states_[s].from)
            path.push_back(s);
        std::vector<Word> move(width_.words());
        std::size_t place = 0;
        for (auto s = path.rbegin(); s != path.rend(); ++s) {
            const Index last = states_[*s].last;
            width_.subtract(move.data(), row(*s), row(states_[*s].from));
            width_.each(move.data(), [&](std::size_t v) {
                if (v != last) operators[place++] = static_cast<std::int64_t>(v);
            });
            if (last != NONE) operators[place++] = last;
        }
    }

    std::int64_t waiting() const override {
        return static_cast<std::int64_t>(heap_.size()) + paused;
    }

  private:
    struct State {
        Bytes best = std::numeric_limits<Bytes>::max();
        Index from = NONE, last = NONE;
        bool closed = false;
    };
    struct Entry {
        Bytes peak;
        double preference;
        std::int64_t serial;
        Index state;
        Bytes level;
        Frontier frontier;
    };
    struct Branch {
        Bytes step, after;
        Index last;
    };
    // The state that is looked at, or the last that it commits to, and how far that is.
    struct Here {
        Index state;
        Bytes peak, level;
        Frontier frontier;
        int commits;
        std::size_t next;  // of its operators, or of its sets and then candidates
    };

    const Word* row(Index state) const { return &rows_[state * width_.words()]; }

    // Entries are taken as tuples are in Python: by peak, preference, serial number, then the set
    // as a number.
    bool is_later(const Entry& a, const Entry& b) const {
        if (a.peak != b.peak) return a.peak > b.peak;
        if (a.preference != b.preference) return a.preference > b.preference;
        if (a.serial != b.serial) return a.serial > b.serial;
        return a.state != b.state && width_.less(row(b.state), row(a.state));
    }

    void raise(Bytes floor) {
        if (floor <= floor_) return;
        floor_ = floor;
        lower = std::max(lower, floor);
        if (heap_.empty() || heap_.front().peak >= floor) return;
        for (auto& entry : heap_) entry.peak = std::max(entry.peak, floor);
        std::make_heap(heap_.begin(), heap_.end(),
                       [this](const Entry& a, const Entry& b) { return is_later(a, b); });
    }

    Index find_or_add(const Word* set) {
        const std::size_t mask = table_.size() - 1;
        std::size_t at = width_.hash(set) & mask;
        for (; table_[at] != NONE; at = (at + 1) & mask)
            if (width_.equal(row(table_[at]), set)) return table_[at];
        if (states_.size() >= NONE - 1) throw std::bad_alloc();
        const Index added = static_cast<Index>(states_.size());
        rows_.insert(rows_.end(), set, set + width_.words());
        states_.emplace_back();
        table_[at] = added;
        if (states_.size() * 2 > table_.size()) rehash();
        return added;
    }

    void rehash() {
        table_.assign(table_.size() * 2, NONE);
        const std::size_t mask = table_.size() - 1;
        for (Index s = 0; s < states_.size(); ++s) {
            std::size_t at = width_.hash(row(s)) & mask;
            while (table_[at] != NONE) at = (at + 1) & mask;
            table_[at] = s;
        }
    }

    bool is_over(Index e, const Word* done) const {
        if (e >= p_.event_count) return has(done, p_.last[e - p_.event_count]);
        return width_.within(&p_.events[e * width_.words()], done);
    }

    // Events that nothing blocks at `done`, from the frontier of a set within it.
    Frontier advance_frontier(const Frontier& frontier, const Word* done) {
        over_.clear();
        for (Index e : *frontier)
            if (is_over(e, done)) over_.push_back(e);
        if (over_.empty()) return frontier;
        Indices pending;
        pending.reserve(frontier->size() + 4);
        for (Index e : *frontier)
            if (!is_over(e, done)) pending.push_back(e);
        ++stamp_;
        while (!over_.empty()) {
            const Index ended = over_.back();
            over_.pop_back();
            for (Index e : p_.unblocks[ended]) {
                if (seen_[e] == stamp_) continue;
                const auto& blockers = p_.blockers[e];
                if (!std::all_of(blockers.begin(), blockers.end(),
                                 [&](Index b) { return is_over(b, done); }))
                    continue;
                seen_[e] = stamp_;
                (is_over(e, done) ? over_ : pending).push_back(e);
            }
        }
        return std::make_shared<const Indices>(std::move(pending));
    }

    static bool any_in(const Indices& operators, const Word* done) {
        return std::any_of(operators.begin(), operators.end(),
                           [&](Index v) { return has(done, v); });
    }

    static bool all_in(const Indices& operators, const Word* done) {
        return std::all_of(operators.begin(), operators.end(),
                           [&](Index v) { return has(done, v); });
    }

    // Run operator v after `done`, which it joins: the bytes of its step; `level` becomes that
    // after it.
    Bytes run(Word* done, Bytes& level, std::size_t v) const {
        const Operator& op = p_.operators[v];
        const bool first = p_.unread && width_.empty(done);
        Bytes fresh = 0, freed = 0;
        for (const auto& group : op.fresh)
            if (!any_in(group.operators, done)) fresh += group.size;
        put(done, v);
        Bytes step = level + fresh + op.extra;
        for (const auto& group : op.overwritten)
            if (all_in(group.operators, done)) {
                step -= group.size;
                break;
            }
        for (const auto& group : op.freed)
            if (all_in(group.operators, done)) freed += group.size;
        level += fresh - freed;
        return first ? step + p_.unread : step;
    }

    // Add the branch that runs `move`, `last` at the end, if it is an operator. Return whether T1
    // commits to it.
    bool consider(const Word* move, Index last, bool minimal) {
        width_.copy(child_.data(), done_.data());
        Bytes after = here_.level, step = std::numeric_limits<Bytes>::min();
        bool alone = true;
        std::int64_t looks = 1;
        width_.each(move, [&](std::size_t v) {
            ++looks;
            if (v == last) return;
            step = std::max(step, run(child_.data(), after, v));
            alone = false;
        });
        if (last != NONE) {
            const Bytes top = run(child_.data(), after, last);
            step = std::max(alone ? Bytes{0} : step, top);
        }
        spent_ += looks * LOOK + 2 * static_cast<std::int64_t>(width_.words());
        const bool commits = p_.commits && minimal && step <= here_.peak && after <= here_.level;
        if (commits) {
            branches_.clear();
            children_.clear();
        }
        branches_.push_back({step, after, last});
        children_.insert(children_.end(), child_.begin(), child_.end());
        return commits;
    }

    bool by_kills() const { return p_.by_kills && !(p_.unread && width_.empty(done_.data())); }

    // Begin to look at the branches from `here_`.
    void expand() {
        here_.frontier = advance_frontier(here_.frontier, done_.data());
        here_.next = 0;
        branches_.clear();
        children_.clear();
        if (by_kills()) collect_sets();
    }

    // Look at the branches that are left, or at the one that T1 commits to; false where the work
    // is spent.
    bool finish_expansion() {
        if (!by_kills()) return finish_operators();
        bool commits = false;
        for (; here_.next < sets_.size() && !commits; ++here_.next) {
            if (spent_ >= work_) return false;
            commits = consider_set(sets_[here_.next]);
        }
        for (; here_.next < sets_.size() + candidates_.size() && !commits; ++here_.next) {
            if (spent_ >= work_) return false;
            commits = consider_candidate(candidates_[here_.next - sets_.size()]);
        }
        if (!branches_.empty()) return true;
        width_.subtract(move_.data(), full_.data(), done_.data());
        if (!width_.empty(move_.data())) consider(move_.data(), NONE, true);
        return true;
    }

    bool finish_operators() {
        for (; here_.next < p_.n; ++here_.next) {
            const std::size_t v = here_.next;
            if (spent_++ >= work_) return false;
            if (has(done_.data(), v) || !all_in(p_.operators[v].predecessors, done_.data()))
                continue;
            std::fill(move_.begin(), move_.end(), 0);
            put(move_.data(), v);
            if (consider(move_.data(), NONE, true)) return true;
        }
        return true;
    }

    struct Set {
        int count;
        std::size_t at;  // in needs_
    };

    struct Slot {
        Word hash;
        std::size_t set = NO_SET;
    };

    // The set modulo 2^61 - 1.
    Word hash_of(const Word* set) const {
        constexpr Word modulus = (Word{1} << 61) - 1;
        Word hash = 0;
        for (std::size_t i = width_.words(); i-- > 0;) {  // 2^64 is 8
            hash = (hash * 8) % modulus + set[i] % modulus;
            if (hash >= modulus) hash -= modulus;
        }
        return hash;
    }

    // Put a set into its slot, as kill_moves.py's `_take`; false if it is there.
    bool take(std::vector<Slot>& slots, Slot entry) const {
        const std::size_t last = slots.size() - 1;
        Word rest = entry.hash;
        std::size_t first = entry.hash & last;
        for (;;) {
            const std::size_t end = first + 9 <= last ? first + 9 : first;
            for (std::size_t at = first; at <= end; ++at) {
                if (slots[at].set == NO_SET) {
                    slots[at] = entry;
                    return true;
                }
                if (slots[at].hash == entry.hash &&
                    width_.equal(&needs_[sets_[slots[at].set].at], &needs_[sets_[entry.set].at]))
                    return false;
            }
            rest >>= 5;
            first = (first * 5 + 1 + rest) & last;
        }
    }

    // Smallest first, then by the slots of kill_moves.py's `in_slots`, or by their numbers where
    // more than FEW are different.
    void sort_sets() {
        if (sets_.size() < 2) return;
        slots_.assign(8, Slot{});
        std::size_t taken = 0;
        for (std::size_t s = 0; s < sets_.size() && taken <= FEW; ++s) {
            if (!take(slots_, {hash_of(&needs_[sets_[s].at]), s})) continue;
            if (++taken * 5 < (slots_.size() - 1) * 3) continue;
            larger_.assign(std::bit_floor(taken * 4) * 2, Slot{});
            for (const Slot& slot : slots_)
                if (slot.set != NO_SET) take(larger_, slot);
            slots_.swap(larger_);
        }
        if (taken > FEW) {
            std::sort(sets_.begin(), sets_.end(), [this](const Set& a, const Set& b) {
                return a.count != b.count ? a.count < b.count
                                          : width_.less(&needs_[a.at], &needs_[b.at]);
            });
            return;
        }
        different_.clear();
        for (const Slot& slot : slots_)
            if (slot.set != NO_SET) different_.push_back(sets_[slot.set]);
        std::stable_sort(different_.begin(), different_.end(),
                         [](const Set& a, const Set& b) { return a.count < b.count; });
        sets_.swap(different_);
    }

    void collect_sets() {
        const std::size_t words = width_.words();
        needs_.clear();
        sets_.clear();
        minimal_.clear();
        candidates_.clear();
        for (Index e : *here_.frontier) {
            if (e >= p_.event_count) {
                candidates_.push_back(e);
                continue;
            }
            const std::size_t at = needs_.size();
            needs_.resize(at + words);
            width_.subtract(&needs_[at], &p_.events[e * words], done_.data());
            sets_.push_back({width_.count(&needs_[at]), at});
        }
        spent_ += static_cast<std::int64_t>(4 * needs_.size());
        sort_sets();
        std::sort(candidates_.begin(), candidates_.end());
    }

    // Add the branch of a set, if no smaller one lies in it; true if T1 commits to it.
    bool consider_set(const Set& set) {
        const Word* need = &needs_[set.at];
        if (holds_minimal(need)) return false;
        minimal_.push_back({first_of(need), set.at});
        return consider(need, NONE, true);
    }

    bool consider_candidate(Index e) {
        const Index last = p_.last[e - p_.event_count];
        width_.subtract(move_.data(), &p_.events[e * width_.words()], done_.data());
        before_ = move_;
        before_[last >> 6] &= ~(Word{1} << (last & 63));
        if (holds_minimal(before_.data())) return false;
        const bool minimal = std::any_of(
            minimal_.begin(), minimal_.end(),
            [&](const Minimal& m) { return width_.equal(&needs_[m.at], move_.data()); });
        return consider(move_.data(), last, minimal);
    }

    struct Minimal {
        std::size_t first, at;
    };

    std::size_t first_of(const Word* row) const {
        for (std::size_t i = 0; i < width_.words(); ++i)
            if (row[i]) return i * 64 + static_cast<std::size_t>(std::countr_zero(row[i]));
        return 0;
    }

    bool holds_minimal(const Word* need) {
        spent_ += static_cast<std::int64_t>(minimal_.size());
        return std::any_of(minimal_.begin(), minimal_.end(), [&](const Minimal& m) {
            return has(need, m.first) && width_.within(&needs_[m.at], need);
        });
    }

    // Go on with a state and what it commits to; put the branches aside. True at the end, and where
    // the work is spent.
    bool follow(Bytes ceiling) {
        for (paused = true;; expand()) {
            if (!finish_expansion()) return true;
            if (here_.commits == p_.chain || branches_.size() != 1 ||
                branches_[0].step > here_.peak)
                break;
            width_.copy(done_.data(), children_.data());
            here_.level = branches_[0].after;
            const Index child = find_or_add(done_.data());
            if (!states_[child].closed)
                link(child, here_.state, branches_[0].last);
            else if (p_.dominance)
                return paused = false;
            states_[child].closed = true;
            here_.state = child;
            memory += p_.state_bytes;
            ++here_.commits;
        }
        paused = false;
        if (width_.equal(done_.data(), full_.data())) {
            goal = here_.state;
            exhausted = true;
            return true;
        }
        memory += 8 * static_cast<Bytes>(here_.frontier->size());
        for (std::size_t b = 0; b < branches_.size(); ++b) {
            const Bytes reached = std::max(branches_[b].step, here_.peak);
            if (reached >= ceiling) continue;
            const Word* set = &children_[b * width_.words()];
            const Index child = find_or_add(set);
            const bool closed = states_[child].closed, better = reached < states_[child].best;
            if (p_.dominance && (closed || !better)) continue;
            if (!closed && better) {
                states_[child].best = reached;
                link(child, here_.state, branches_[b].last);
            }
            memory += p_.state_bytes;
            const double depth = static_cast<double>(width_.count(set)) * p_.weight;
            const double preference = static_cast<double>(branches_[b].after) - depth;
            heap_.push_back(
                {reached, preference, linked_, child, branches_[b].after, here_.frontier});
            std::push_heap(heap_.begin(), heap_.end(),
                           [this](const Entry& x, const Entry& y) { return is_later(x, y); });
        }
        return false;
    }

    void link(Index child, Index from, Index last) {
        linked_ += states_[child].from == NONE;
        states_[child].from = from;
        states_[child].last = last;
    }

    const Problem p_;
    const Width<Fixed> width_;
    Bytes floor_;
    std::int64_t linked_ = 0, spent_ = 0, work_ = 0;
    Here here_{};
    std::vector<Word> full_, rows_;
    std::vector<State> states_;
    Indices table_;
    std::vector<Entry> heap_;
    // scratch of one expansion
    std::vector<Word> done_, child_, move_, before_, children_, needs_;
    std::vector<Branch> branches_;
    std::vector<Set> sets_, different_;
    std::vector<Slot> slots_, larger_;
    std::vector<Minimal> minimal_;
    Indices over_, candidates_;
    std::vector<std::uint64_t> seen_;
    std::uint64_t stamp_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_search(Problem problem) {
    switch (words_for(problem.n)) {
        case 1:
            return std::make_unique<Downsets<1>>(std::move(problem));
        case 2:
            return std::make_unique<Downsets<2>>(std::move(problem));
        default:
            return std::make_unique<Downsets<0>>(std::move(problem));
    }
}

}  // namespace memopt

using memopt::Search;

std::int32_t memopt_interface() {
    return MEMOPT_INTERFACE;
}

void* memopt_downsets_create(const std::int64_t* numbers, std::int64_t count, double weight) try {
    memopt::Stream stream(numbers, count);
    return memopt::make_search(memopt::read_problem(stream, weight)).release();
} catch (const std::exception&) {
    return nullptr;
}

std::int32_t memopt_downsets_advance(void* search, std::int64_t states, std::int64_t work,
                                     std::int64_t memory, std::int64_t floor,
                                     std::int64_t ceiling, std::int64_t* outcome) try {
    Search& s = *static_cast<Search*>(search);
    s.advance(states, work, memory, floor, ceiling);
    const std::int64_t values[] = {s.states,    s.waiting(), s.memory, s.lower,
                                   s.exhausted, s.paused,    s.goal != memopt::NONE};
    std::copy(std::begin(values), std::end(values), outcome);
    return 0;
} catch (const std::exception&) {
    return 1;
}

void memopt_downsets_order(const void* search, std::int64_t* operators) {
    static_cast<const Search*>(search)->order(operators);
}

void memopt_downsets_destroy(void* search) {
    delete static_cast<Search*>(search);
}
