// Heuristic orders and the bound T6 of small graphs: solvers/scheduling/methods and
// solvers/theory/bounds.py explain them and are the reference, whose answers these are.
#include "small_graph.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace memopt {

void SmallGraph::derive() {
    const std::size_t count = n();
    if (count > MOST) throw Uncovered("more operators than a word has bits");
    for (std::size_t v = 0; v < count; ++v)
        for (Index p : predecessors[v]) {
            before[v] |= one(p);
            after[p] |= one(v);
        }
    // the ready operator of least number first
    for (Word waiting = all(), done = 0; waiting;) {
        Word ready = 0;
        each(waiting, [&](std::size_t v) { ready |= before[v] & ~done ? 0 : one(v); });
        if (!ready) throw Uncovered("a cycle");
        const auto v = static_cast<std::size_t>(std::countr_zero(ready));
        each(before[v], [&](std::size_t p) { up[v] |= up[p] | one(p); });
        topological.push_back(static_cast<Index>(v));
        done |= one(v);
        waiting &= ~one(v);
    }
    for (std::size_t v = 0; v < count; ++v) each(up[v], [&](std::size_t p) { down[p] |= one(v); });
    reads.resize(count);
    writes.resize(count);
    touches.resize(count);
    Bytes sum = 0;
    const auto add = [&sum](Bytes bytes) {
        if (bytes > MOST_BYTES - sum) throw Uncovered("sums of bytes that are too large");
        sum += bytes;
    };
    for (Bytes bytes : extra) add(bytes);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const Tensors& group = groups[g];
        const auto at = static_cast<Index>(g);
        add(group.size);
        each(group.readers, [&](std::size_t v) { reads[v].push_back(at); });
        each(group.writers, [&](std::size_t v) { writes[v].push_back(at); });
        each(group.touchers(), [&](std::size_t v) { touches[v].push_back(at); });
        if (!group.is_input) continue;
        first_level += group.size;
        if (!group.is_output && !group.touchers()) unread += group.size;
    }
}

Bytes SmallGraph::level(Word done) const {
    Bytes total = 0;
    for (const Tensors& group : groups) {
        if (!group.is_input && !(group.writers & done)) continue;
        const Word touchers = group.touchers();
        const bool stays = touchers || group.is_output ? (touchers & ~done) != 0 : done == 0;
        if (group.is_output || stays) total += group.size;
    }
    return total;
}

Bytes SmallGraph::cost(Word done, std::size_t v) const {
    Bytes total = extra[v];
    for (Index g : writes[v])
        if (!groups[g].is_input && !(groups[g].writers & done)) total += groups[g].size;
    return total;
}

Bytes peak_of(const SmallGraph& graph, const Order& order, Bytes* steps) {
    Bytes level = graph.first_level, peak = level;
    Word done = 0;
    for (Index v : order) {
        const Bytes step = level + graph.cost(done, v);
        for (Index g : graph.writes[v])
            if (!graph.groups[g].is_input && !(graph.groups[g].writers & done))
                level += graph.groups[g].size;
        if (!done) level -= graph.unread;
        done |= one(v);
        for (Index g : graph.touches[v]) {
            const Tensors& group = graph.groups[g];
            if (!group.is_output && !(group.touchers() & ~done)) level -= group.size;
        }
        peak = std::max(peak, step);
        if (steps) steps[v] = step;
    }
    return peak;
}

namespace {

bool is_in_order(const SmallGraph& graph) {
    for (std::size_t v = 0; v < graph.n(); ++v)
        if (graph.before[v] >> v) return false;
    return true;
}

// greedy.py: the ready operator of the least (step or peak, rise, age, number).
Order greedy(const SmallGraph& graph) {
    const std::size_t n = graph.n();
    Order result;
    std::array<std::int64_t, MOST> made{};
    made.fill(-1);
    Bytes level = graph.first_level, peak = level;
    for (Word done = 0, ready = 0; result.size() < n;) {
        for (std::size_t v = 0; v < n; ++v)
            if (!(done >> v & 1) && !(ready >> v & 1) && !(graph.before[v] & ~done)) {
                ready |= one(v);
                if (graph.before[v]) made[v] = static_cast<std::int64_t>(result.size());
            }
        using Key = std::tuple<Bytes, Bytes, std::int64_t, std::size_t>;
        std::optional<Key> best;
        Bytes best_cost = 0;
        each(ready, [&](std::size_t v) {
            Bytes rise = 0, cost = graph.extra[v];
            for (Index g : graph.writes[v]) {
                const Tensors& group = graph.groups[g];
                if (!group.is_input && !(group.writers & done)) rise += group.size;
            }
            cost += rise;
            for (Index g : graph.touches[v]) {
                const Tensors& group = graph.groups[g];
                if (!group.is_output && !(group.touchers() & ~done & ~one(v))) rise -= group.size;
            }
            const Bytes reached = std::max(level + cost, peak) + std::max(rise, Bytes{0});
            const Key key{reached, rise, -made[v], v};
            if (!best || key < *best) best = key, best_cost = cost;
        });
        const auto v = std::get<3>(*best);
        peak = std::max(peak, level + best_cost);
        level += std::get<1>(*best) - (done ? 0 : graph.unread);
        done |= one(v);
        ready &= ~one(v);
        result.push_back(static_cast<Index>(v));
    }
    return result;
}

// Depth first from `root`, those in `next(v)` first, in their order.
template <class Next>
void post_order(std::size_t root, Word& seen, Order& result, Next next) {
    if (seen >> root & 1) return;
    struct Frame {
        std::size_t v;
        decltype(next(root)) rest;
    };
    std::vector<Frame> stack;
    seen |= one(root);
    stack.push_back({root, next(root)});
    while (!stack.empty()) {
        const auto child = stack.back().rest(seen);
        if (!child) {
            result.push_back(static_cast<Index>(stack.back().v));
            stack.pop_back();
            continue;
        }
        seen |= one(*child);
        stack.push_back({*child, next(*child)});
    }
}

// rpo.py
Order reverse_post_order(const SmallGraph& graph) {
    Order result;
    Word seen = 0;
    const auto operands = [&](std::size_t v) {
        return [&before = graph.predecessors[v],
                at = std::size_t{0}](Word known) mutable -> std::optional<std::size_t> {
            while (at < before.size())
                if (const Index p = before[at++]; !(known >> p & 1)) return p;
            return std::nullopt;
        };
    };
    for (const Tensors& group : graph.groups)
        if (group.is_output)
            each(group.writers, [&](std::size_t v) { post_order(v, seen, result, operands); });
    for (std::size_t v = 0; v < graph.n(); ++v)
        if (!graph.after[v]) post_order(v, seen, result, operands);
    return result;
}

// fwd_rpo.py
Order forward_post_order(const SmallGraph& graph) {
    Order result;
    Word seen = 0;
    const auto readers = [&](std::size_t v) {
        return [rest = graph.after[v]](Word known) mutable -> std::optional<std::size_t> {
            rest &= ~known;
            if (!rest) return std::nullopt;
            const auto s = static_cast<std::size_t>(std::countr_zero(rest));
            rest &= rest - 1;
            return s;
        };
    };
    for (std::size_t v = 0; v < graph.n(); ++v)
        if (!graph.before[v]) post_order(v, seen, result, readers);
    std::reverse(result.begin(), result.end());
    return result;
}

// phases.py's, where there is more than one of them
bool has_phases(const SmallGraph& graph, std::int64_t many) {
    std::array<std::int64_t, MOST> phase{};
    bool several = false;
    for (auto v = graph.topological.rbegin(); v != graph.topological.rend(); ++v) {
        const Word after = graph.after[*v];
        const bool waited_for = std::popcount(after) >= many;
        auto least = after ? std::numeric_limits<std::int64_t>::max() : 0;
        each(after, [&](std::size_t s) {
            const auto before = static_cast<std::int64_t>(graph.predecessors[s].size());
            least = std::min(least, phase[s] - (waited_for && before >= many));
        });
        phase[*v] = least;
        several = several || least != 0;
    }
    return several;
}

struct Start {
    Bytes value;
    bool by_operator;
};

// bounds.py's `_trivial`
Start trivial(const SmallGraph& graph) {
    Bytes best = graph.first_level, first = std::numeric_limits<Bytes>::max();
    for (std::size_t v = 0; v < graph.n(); ++v)
        if (!graph.before[v]) first = std::min(first, graph.cost(0, v));
    if (first != std::numeric_limits<Bytes>::max()) best = std::max(best, best + first);
    bool by_operator = false;
    for (std::size_t v = 0; v < graph.n(); ++v) {
        Bytes touched = graph.extra[v];
        for (Index g : graph.touches[v]) touched += graph.groups[g].size;
        by_operator = by_operator || touched >= best;
        best = std::max(best, touched);
    }
    return {best, by_operator};
}

// A flow network of a few dozen nodes; Dinic's algorithm.
class Network {
  public:
    static constexpr Bytes INFINITE = std::numeric_limits<Bytes>::max() / 4;
    static constexpr std::size_t SOURCE = 0, SINK = 1;

    explicit Network(std::size_t nodes) : arcs_(nodes), depth_(nodes), next_(nodes) {}

    void add(std::size_t tail, std::size_t head, Bytes capacity) {
        arcs_[tail].push_back({head, arcs_[head].size(), capacity});
        arcs_[head].push_back({tail, arcs_[tail].size() - 1, 0});
    }

    Bytes flow() {
        Bytes total = 0;
        while (reach()) {
            std::fill(next_.begin(), next_.end(), 0);
            while (const Bytes more = push(SOURCE, INFINITE)) total += more;
        }
        return total;
    }

    // Return whether the node is on the least source side of a min-cut; after `flow`.
    bool is_reached(std::size_t node) const { return depth_[node] >= 0; }

  private:
    struct Arc {
        std::size_t head, back;
        Bytes room;
    };

    bool reach() {
        std::fill(depth_.begin(), depth_.end(), -1);
        queue_.assign(1, SOURCE);
        depth_[SOURCE] = 0;
        for (std::size_t at = 0; at < queue_.size(); ++at)
            for (const Arc& arc : arcs_[queue_[at]])
                if (arc.room > 0 && depth_[arc.head] < 0) {
                    depth_[arc.head] = depth_[queue_[at]] + 1;
                    queue_.push_back(arc.head);
                }
        return depth_[SINK] >= 0;
    }

    Bytes push(std::size_t node, Bytes most) {
        if (node == SINK) return most;
        for (std::size_t& at = next_[node]; at < arcs_[node].size(); ++at) {
            Arc& arc = arcs_[node][at];
            if (arc.room <= 0 || depth_[arc.head] != depth_[node] + 1) continue;
            if (const Bytes sent = push(arc.head, std::min(most, arc.room))) {
                arc.room -= sent;
                arcs_[arc.head][arc.back].room += sent;
                return sent;
            }
        }
        return 0;
    }

    std::vector<std::vector<Arc>> arcs_;
    std::vector<int> depth_;
    std::vector<std::size_t> next_, queue_;
};

struct Cut {
    Bytes value;
    Word ideal;
};

// cuts.py: the least t(D) + c(D, v) over the ideals D at which v is ready.
Cut least_step(const SmallGraph& graph, std::size_t v) {
    const Word run = graph.up[v], never = graph.down[v] | one(v);
    const Word free = graph.all() & ~(run | never);
    Bytes constant = graph.extra[v];
    struct Counted {
        const Tensors* group;
        bool begun, held;
    };
    std::vector<Counted> counted;
    for (const Tensors& group : graph.groups) {
        const bool begun = group.is_input || (group.writers & (run | one(v)));
        const bool held = group.is_output || (group.touchers() & never);
        if (begun && held) constant += group.size;
        if ((begun && held) || !group.size) continue;
        if ((begun || (group.writers & free)) && (held || (group.touchers() & free)))
            counted.push_back({&group, begun, held});
    }
    if (counted.empty()) return {constant, run};
    std::array<std::size_t, MOST> node{};
    std::size_t nodes = 2;
    each(free, [&](std::size_t u) { node[u] = nodes++; });
    const std::size_t first = nodes;
    Network network(first + 2 * counted.size());
    each(free, [&](std::size_t u) {
        each(graph.before[u] & free,
             [&](std::size_t p) { network.add(node[u], node[p], Network::INFINITE); });
    });
    for (std::size_t i = 0; i < counted.size(); ++i) {
        const auto [group, begun, held] = counted[i];
        const std::size_t into = begun ? Network::SOURCE : first + 2 * i;
        const std::size_t out = held ? Network::SINK : first + 2 * i + 1;
        network.add(into, out, group->size);
        if (!begun)
            each(group->writers & free,
                 [&](std::size_t w) { network.add(node[w], into, Network::INFINITE); });
        if (!held)
            each(group->touchers() & free,
                 [&](std::size_t u) { network.add(out, node[u], Network::INFINITE); });
    }
    Cut cut{constant + network.flow(), run};
    each(free, [&](std::size_t u) { cut.ideal |= network.is_reached(node[u]) ? one(u) : 0; });
    return cut;
}

// bounds.py's `below`; cuts known so far say of most operators that theirs are no larger.
Start flow_bound(const SmallGraph& graph, const std::vector<Bytes>& ceiling, Bytes top) {
    Start bound = trivial(graph);
    if (top <= bound.value) return bound;
    std::vector<std::size_t> operators(graph.n());
    for (std::size_t v = 0; v < operators.size(); ++v) operators[v] = v;
    std::stable_sort(operators.begin(), operators.end(),
                     [&](std::size_t a, std::size_t b) { return ceiling[a] > ceiling[b]; });
    std::vector<Word> ideals;
    for (std::size_t v : operators) {
        if (ceiling[v] <= bound.value) break;
        const Word without = ~(graph.down[v] | one(v));
        const bool is_low = std::any_of(ideals.begin(), ideals.end(), [&](Word ideal) {
            const Word done = (ideal | graph.up[v]) & without;
            return graph.level(done) + graph.cost(done, v) <= bound.value;
        });
        if (is_low) continue;
        const Cut cut = least_step(graph, v);
        if (cut.value > bound.value) bound = {cut.value, true};
        ideals.push_back(cut.ideal);
    }
    return bound;
}

}  // namespace

Proven heuristics_and_bound(const SmallGraph& graph, const Limits& limits) {
    const Bytes least = trivial(graph).value;
    const std::size_t n = graph.n();
    std::vector<Bytes> ceiling(n, std::numeric_limits<Bytes>::max()), steps(n);
    Order best;
    Bytes peak = std::numeric_limits<Bytes>::max();
    const auto is_least = [&](Order order) {
        const Bytes reached = peak_of(graph, order, steps.data());
        for (std::size_t v = 0; v < n; ++v) ceiling[v] = std::min(ceiling[v], steps[v]);
        if (reached < peak) peak = reached, best = std::move(order);
        return reached == least;
    };
    Order source(n);
    for (std::size_t v = 0; v < n; ++v) source[v] = static_cast<Index>(v);
    const bool has_least = (is_in_order(graph) && is_least(std::move(source))) ||
                           is_least(greedy(graph)) || is_least(reverse_post_order(graph)) ||
                           is_least(forward_post_order(graph));
    if (!has_least && has_phases(graph, limits.phase)) throw Uncovered("phases");
    Bytes top = 0;
    for (Bytes bytes : ceiling) top = std::max(top, bytes);
    const Start bound = flow_bound(graph, ceiling, top);
    return {std::move(best), peak, bound.value, bound.by_operator};
}

}  // namespace memopt
