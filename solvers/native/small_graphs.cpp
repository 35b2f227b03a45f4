// JSON graphs solved one after the other, in one call: read, ordered, proven, without an object of
// Python's per operator.
//
// Settings: alignment, most bytes of a tensor, most dimensions; operators of a graph that is
// searched, states, states of a turn, commits in a row, operators that make a phase; then the bits
// of each element type, whose names stand in `elements`, a line break behind each.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "interface.hpp"
#include "json_graph.hpp"
#include "stream.hpp"

namespace memopt {
namespace {

constexpr std::int64_t STATE = 100;  // work of a state
constexpr std::size_t FIGURES = 9;

struct Settings {
    Forms forms;
    Limits limits;
};

Settings read_settings(Stream& stream, std::string_view elements) {
    Settings settings;
    auto& [forms, limits] = settings;
    forms.alignment = stream.next(1, 1 << 20);
    forms.most_bytes = stream.next(0, Bytes{1} << 62);
    forms.most_dimensions = static_cast<std::size_t>(stream.next(0, 1 << 20));
    limits.searched = stream.next(0, MOST);
    limits.states = stream.next(0, 1 << 20);
    limits.turn = stream.next(1, 1 << 20);
    limits.chain = stream.next(0, 1 << 20);
    limits.phase = stream.next(1, 1 << 20);
    for (std::size_t begin = 0, end; begin < elements.size(); begin = end + 1) {
        end = elements.find('\n', begin);
        if (end == std::string_view::npos) throw Refused("a name without an end");
        forms.elements.push_back({elements.substr(begin, end - begin), stream.next(1, 1 << 10)});
    }
    stream.finish();
    return settings;
}

// Solve one graph into its figures, operators and names; return the states taken.
std::int64_t solve_text(std::string_view text, const Settings& settings, std::int64_t* figures,
                        unsigned char* operators, char* names) {
    const auto begin = std::chrono::steady_clock::now();
    JsonGraph read = read_graph(text, settings.forms);
    read.graph.derive();
    const auto solved = solve(read.graph, settings.limits);
    if (!solved) return settings.limits.states;
    for (Index v : solved->proven.order) {
        const std::string_view name = read.names[v];
        *operators++ = static_cast<unsigned char>(v);
        names += name.copy(names, name.size());
        *names++ = '\n';
    }
    const auto taken = std::chrono::steady_clock::now() - begin;
    const std::int64_t values[FIGURES] = {
        1,
        solved->proven.peak,
        solved->proven.bound,
        solved->proven.by_flow,
        solved->states,
        read.macs.has_value(),
        read.macs.value_or(0),
        read.weights,
        std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count()};
    std::memcpy(figures, values, sizeof values);
    return solved->states;
}

}  // namespace
}  // namespace memopt

std::int64_t memopt_json_graphs_solve(const char* texts, const std::int64_t* ends,
                                      std::int64_t count, const std::int64_t* settings,
                                      std::int64_t setting_count, const char* elements,
                                      std::int64_t work, std::int64_t* figures,
                                      unsigned char* operators, char* names) try {
    memopt::Stream stream(settings, setting_count);
    const memopt::Settings read = memopt::read_settings(stream, elements);
    std::int64_t begin = 0, done = 0;
    work = std::max(work, std::int64_t{0});
    for (; done < count && (done == 0 || work > 0); ++done) {
        const std::string_view text(texts + begin, static_cast<std::size_t>(ends[done] - begin));
        std::int64_t* facts = figures + static_cast<std::size_t>(done) * memopt::FIGURES;
        unsigned char* order = operators + static_cast<std::size_t>(done) * memopt::MOST;
        facts[0] = 0;
        try {
            work -= memopt::STATE * memopt::solve_text(text, read, facts, order, names + begin);
        } catch (const std::exception&) {
            facts[0] = 0;  // Python's
        }
        work -= ends[done] - begin;
        begin = ends[done];
    }
    return done;
} catch (const std::exception&) {
    return -1;
}
