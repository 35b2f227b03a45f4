// The search of small graphs that the heuristics leave open: in canonical form, from both ends.
// solvers/theory/canonical.py, solvers/scheduling/{both_ends,kill_moves}.py and
// solvers/theory/reversal.py explain it and are the reference.
#include <algorithm>
#include <limits>

#include "small_graph.hpp"

namespace memopt {
namespace {

using Numbers = std::vector<std::int64_t>;

// Equal keys get equal numbers, in the order of the keys.
Numbers ranks(const std::vector<Numbers>& keys) {
    std::vector<std::size_t> order(keys.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    Numbers result(keys.size());
    std::int64_t rank = -1;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == 0 || keys[order[i - 1]] < keys[order[i]]) ++rank;
        result[order[i]] = rank;
    }
    return result;
}

std::int64_t kinds(const Numbers& ranked) {
    return ranked.empty() ? 0 : 1 + *std::max_element(ranked.begin(), ranked.end());
}

// Colours in ascending order behind the key, and an end that is less than any of them.
template <class Members, class Add>
void add_sorted(Numbers& key, const Members& members, Add add) {
    const auto begin = static_cast<std::ptrdiff_t>(key.size());
    add(members, key);
    std::sort(key.begin() + begin, key.end());
    key.push_back(-1);
}

struct Colours {
    Numbers operators, groups;
};

Colours colours(const SmallGraph& graph) {
    const std::size_t n = graph.n(), count = graph.groups.size();
    std::vector<Numbers> operator_keys(n), group_keys(count);
    for (std::size_t v = 0; v < n; ++v)
        operator_keys[v] = {graph.extra[v], std::popcount(graph.before[v])};
    for (std::size_t g = 0; g < count; ++g)
        group_keys[g] = {graph.groups[g].size, graph.groups[g].is_input,
                         graph.groups[g].is_output};
    Colours found{ranks(operator_keys), ranks(group_keys)};
    const auto of_operators = [&](Word members, Numbers& key) {
        each(members, [&](std::size_t v) { key.push_back(found.operators[v]); });
    };
    const auto of_groups = [&](const Indices& members, Numbers& key) {
        for (Index g : members) key.push_back(found.groups[g]);
    };
    for (;;) {
        const auto before = kinds(found.operators) + kinds(found.groups);
        for (std::size_t v = 0; v < n; ++v) {
            Numbers& key = operator_keys[v];
            key.assign(1, found.operators[v]);
            add_sorted(key, graph.before[v], of_operators);
            add_sorted(key, graph.after[v], of_operators);
            add_sorted(key, graph.reads[v], of_groups);
            add_sorted(key, graph.writes[v], of_groups);
        }
        for (std::size_t g = 0; g < count; ++g) {
            Numbers& key = group_keys[g];
            key.assign(1, found.groups[g]);
            add_sorted(key, graph.groups[g].writers, of_operators);
            add_sorted(key, graph.groups[g].readers, of_operators);
        }
        found = {ranks(operator_keys), ranks(group_keys)};
        if (kinds(found.operators) + kinds(found.groups) == before) return found;
    }
}

// Numbers by rank, equal ones as they were.
Order by_rank(const Numbers& ranked) {
    Order order(ranked.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return ranked[a] < ranked[b]; });
    return order;
}

// The graph with operator old[i] at place i and its groups in the order of `listed`.
SmallGraph renumbered(const SmallGraph& graph, const Order& old, const Order& listed) {
    std::array<std::size_t, MOST> place{};
    for (std::size_t i = 0; i < old.size(); ++i) place[old[i]] = i;
    const auto moved = [&](Word operators) {
        Word result = 0;
        each(operators, [&](std::size_t v) { result |= one(place[v]); });
        return result;
    };
    SmallGraph result;
    for (Index v : old) {
        result.extra.push_back(graph.extra[v]);
        auto& predecessors = result.predecessors.emplace_back();
        each(moved(graph.before[v]),
             [&](std::size_t p) { predecessors.push_back(static_cast<Index>(p)); });
    }
    for (Index g : listed) {
        Tensors group = graph.groups[g];
        group.writers = moved(group.writers);
        group.readers = moved(group.readers);
        result.groups.push_back(group);
    }
    result.derive();
    return result;
}

// reversal.py; nothing is in place here.
bool is_reversible(const SmallGraph& graph) {
    if (graph.unread) return false;
    return std::all_of(graph.groups.begin(), graph.groups.end(), [&](const Tensors& group) {
        bool follows = true;
        if (!group.is_input && group.size)
            each(group.touchers() & ~group.writers,
                 [&](std::size_t v) { follows = follows && graph.up[v] & group.writers; });
        return follows;
    });
}

SmallGraph backward(const SmallGraph& graph) {
    const std::size_t last = graph.n() - 1;
    const auto mirrored = [last](Word operators) {
        Word result = 0;
        each(operators, [&](std::size_t v) { result |= one(last - v); });
        return result;
    };
    SmallGraph result;
    for (std::size_t v = graph.n(); v-- > 0;) {
        result.extra.push_back(graph.extra[v]);
        auto& predecessors = result.predecessors.emplace_back();
        each(mirrored(graph.after[v]),
             [&](std::size_t p) { predecessors.push_back(static_cast<Index>(p)); });
    }
    for (const Tensors& group : graph.groups) {
        const Word touchers = group.touchers();
        result.groups.push_back({group.size, mirrored(touchers), mirrored(group.writers),
                                 group.is_output || !touchers, group.is_input});
    }
    result.derive();
    return result;
}

// kill_moves.py's `in_slots`
std::vector<Word> in_slots(const std::vector<Word>& masks) {
    constexpr Word modulus = (Word{1} << 61) - 1;
    const auto take = [](std::vector<Word>& slots, Word mask) {
        const std::size_t last = slots.size() - 1;
        Word rest = mask % modulus;
        std::size_t first = rest & last;
        for (;;) {
            const std::size_t end = first + 9 <= last ? first + 9 : first;
            for (std::size_t at = first; at <= end; ++at) {
                if (slots[at] == mask) return false;
                if (slots[at]) continue;
                slots[at] = mask;
                return true;
            }
            rest >>= 5;
            first = (first * 5 + 1 + rest) & last;
        }
    };
    std::vector<Word> slots(8), larger;
    std::size_t count = 0;
    for (Word mask : masks) {
        if (!take(slots, mask) || ++count * 5 < (slots.size() - 1) * 3) continue;
        larger.assign(std::bit_floor(count * 4) * 2, 0);
        for (Word moved : slots)
            if (moved) take(larger, moved);
        slots.swap(larger);
    }
    std::erase(slots, Word{0});
    return slots;
}

// kill_moves.py: what must have run for a group to be freed, or an operator with workspace to have
// run, smallest first.
std::vector<Word> events(const SmallGraph& graph) {
    std::vector<Word> needs;
    for (const Tensors& group : graph.groups) {
        if (!group.size || !group.touchers() || group.is_output) continue;
        Word need = group.touchers();
        each(group.touchers(), [&](std::size_t v) { need |= graph.up[v]; });
        needs.push_back(need);
    }
    for (std::size_t v = 0; v < graph.n(); ++v)
        if (graph.extra[v]) needs.push_back(graph.up[v] | one(v));
    needs = in_slots(needs);
    std::stable_sort(needs.begin(), needs.end(),
                     [](Word a, Word b) { return std::popcount(a) < std::popcount(b); });
    return needs;
}

// Per event the largest events within it, and those within them no more.
std::vector<Indices> blockers(const std::vector<Word>& events) {
    std::vector<Indices> result(events.size());
    std::vector<bool> within;
    for (std::size_t e = 0; e < events.size(); ++e) {
        within.assign(e, false);
        for (std::size_t b = e; b-- > 0;) {
            if (within[b] || (events[b] & ~events[e])) continue;
            result[e].push_back(static_cast<Index>(b));
            for (std::size_t i = 0; i < b; ++i)
                within[i] = within[i] || !(events[i] & ~events[b]);
        }
    }
    return result;
}

Indices indices(Word mask) {
    Indices result;
    each(mask, [&](std::size_t v) { result.push_back(static_cast<Index>(v)); });
    return result;
}

// native_search.py's problem
Problem problem_of(const SmallGraph& graph, Bytes lower, std::int64_t chain) {
    Problem p{};
    p.n = graph.n();
    p.start = graph.first_level - graph.unread;
    p.lower = lower;
    p.unread = graph.unread;
    p.chain = static_cast<int>(chain);
    p.by_kills = p.commits = p.dominance = true;
    p.operators.resize(p.n);
    Bytes sum = 0;
    for (const Tensors& group : graph.groups) sum += group.size;
    for (std::size_t v = 0; v < p.n; ++v) {
        Operator& op = p.operators[v];
        op.extra = graph.extra[v];
        op.predecessors = graph.predecessors[v];
        for (Index g : graph.writes[v])
            if (const Tensors& group = graph.groups[g]; !group.is_input)
                op.fresh.push_back({group.size, indices(group.writers)});
        for (Index g : graph.touches[v])
            if (const Tensors& group = graph.groups[g]; !group.is_output)
                op.freed.push_back({group.size, indices(group.touchers())});
    }
    p.events = events(graph);
    p.event_count = p.events.size();
    p.blockers = blockers(p.events);
    p.unblocks.resize(p.event_count);
    for (std::size_t e = 0; e < p.event_count; ++e)
        for (Index b : p.blockers[e]) p.unblocks[b].push_back(static_cast<Index>(e));
    p.weight = static_cast<double>(sum) / static_cast<double>(p.n) / 3;
    return p;
}

// both_ends.py, and of native_search.py what one end knows.
struct End {
    std::unique_ptr<Search> search;
    Bytes floor, lower;
    std::int64_t waiting = 1;

    static constexpr std::int64_t NO_LIMIT = std::numeric_limits<std::int64_t>::max();

    static End of(const SmallGraph& graph, Bytes floor, std::int64_t chain) {
        const Bytes lower = std::max(floor, graph.level(0));
        return {make_search(problem_of(graph, lower, chain)), floor, lower};
    }

    void run(std::int64_t states, Bytes ceiling) {
        const std::int64_t end = search->states + states;
        while (!search->exhausted && search->states != end) {
            search->advance(end - search->states, NO_LIMIT, NO_LIMIT, floor, ceiling);
            lower = search->lower;
            waiting = search->waiting();
        }
    }

    void raise(Bytes bound) {
        if (bound <= floor) return;
        floor = bound;
        lower = std::max(lower, bound);
    }
};

struct Outcome {
    std::optional<Order> order;
    bool exhausted;
    Bytes lower;
    std::int64_t states;
};

Outcome search_both_ends(const SmallGraph& graph, Bytes floor, Bytes ceiling,
                         const Limits& limits) {
    std::vector<End> ends;
    ends.push_back(End::of(graph, floor, limits.chain));
    if (is_reversible(graph)) {
        const SmallGraph mirrored = backward(graph);
        if (mirrored.level(0) <= std::max(floor, ends[0].lower))
            ends.push_back(End::of(mirrored, floor, limits.chain));
    }
    Outcome result{std::nullopt, false, 0, 0};
    while (!result.exhausted) {
        End& end = *std::min_element(ends.begin(), ends.end(), [](const End& a, const End& b) {
            const bool a_begun = a.search->states > 0, b_begun = b.search->states > 0;
            return a_begun != b_begun ? !a_begun : a.waiting < b.waiting;
        });
        const std::int64_t turn = std::min(limits.turn, limits.states - result.states);
        const std::int64_t before = end.search->states;
        end.run(turn, ceiling);
        const std::int64_t taken = end.search->states - before;
        result.states += taken;
        result.exhausted = end.search->exhausted;
        if (taken < limits.turn && !result.exhausted) break;
        for (End& other : ends) other.raise(end.lower);
    }
    for (std::size_t e = 0; e < ends.size(); ++e) {
        result.lower = std::max(result.lower, ends[e].lower);
        if (ends[e].search->goal == NONE || result.order) continue;
        std::vector<std::int64_t> operators(graph.n());
        ends[e].search->order(operators.data());
        Order& order = result.order.emplace();
        for (std::int64_t v : operators) order.push_back(static_cast<Index>(v));
        if (e == 0) continue;
        std::reverse(order.begin(), order.end());
        for (Index& v : order) v = static_cast<Index>(graph.n() - 1 - v);
    }
    return result;
}

// The order with places[v] for each operator v.
Order through(const Order& order, const Order& places) {
    Order result;
    for (Index v : order) result.push_back(places[v]);
    return result;
}

}  // namespace

std::optional<Solved> solve(const SmallGraph& graph, const Limits& limits) {
    Proven known = heuristics_and_bound(graph, limits);
    if (known.peak == known.bound) return Solved{std::move(known), 0};
    if (static_cast<std::int64_t>(graph.n()) > limits.searched) return std::nullopt;
    const Colours found = colours(graph);
    const Order places = by_rank(found.operators);
    const SmallGraph form = renumbered(graph, places, by_rank(found.groups));
    known = heuristics_and_bound(form, limits);
    std::int64_t states = 0;
    if (known.peak > known.bound) {
        Order groups(form.groups.size());
        for (std::size_t g = 0; g < groups.size(); ++g) groups[g] = static_cast<Index>(g);
        const SmallGraph numbered = renumbered(form, form.topological, groups);
        const Outcome outcome = search_both_ends(numbered, known.bound, known.peak, limits);
        if (!outcome.exhausted) return std::nullopt;
        states = outcome.states;
        if (outcome.order) {
            known.order = through(*outcome.order, form.topological);
            known.peak = peak_of(form, known.order);
        }
        if (known.peak > known.bound) {
            known.bound = std::min(outcome.lower, known.peak);
            known.by_flow = false;
            if (known.bound < known.peak) return std::nullopt;
        }
    }
    known.order = through(known.order, places);
    return Solved{std::move(known), states};
}

}  // namespace memopt
