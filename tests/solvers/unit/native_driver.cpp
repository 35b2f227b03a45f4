// Runs the native library over streams, as they are and broken: `driver SEED MUTATIONS < streams`,
// where a stream is its kind, its length and its numbers, 8 bytes each. Built with sanitizers,
// which end it at what is undefined. The numbers of kind 3 are settings, their count first, and
// behind them the bytes of a JSON graph, one a number. Those of kind 4 are an array.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "interface.hpp"

namespace {

using Numbers = std::vector<std::int64_t>;
using Random = std::mt19937_64;

constexpr std::int64_t ODD[] = {0,
                                1,
                                -1,
                                2,
                                63,
                                64,
                                65,
                                1 << 20,
                                std::int64_t{1} << 32,
                                std::int64_t{1} << 60,
                                INT64_MAX,
                                INT64_MIN,
                                INT64_MIN + 1};

std::int64_t odd(Random& random) {
    const auto choice = random() % (std::size(ODD) + 2);
    if (choice < std::size(ODD)) return ODD[choice];
    return static_cast<std::int64_t>(choice % 2 ? random() : random() % 1000);
}

Numbers broken(Numbers numbers, Random& random) {
    for (auto changes = 1 + random() % 3; changes && !numbers.empty(); --changes) {
        const auto at = random() % numbers.size();
        switch (random() % 5) {
            case 0:
                numbers.resize(at);
                break;
            case 1:
                numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(at), odd(random));
                break;
            case 2:
                numbers[at] ^= std::int64_t{1} << random() % 63;
                break;
            default:
                numbers[at] = odd(random);
        }
    }
    return numbers;
}

bool search_downsets(const Numbers& numbers, Random& random, bool hostile) {
    const double weight = hostile && random() % 8 == 0 ? 1e308 * 10 : 3.5;
    void* search =
        memopt_downsets_create(numbers.data(), static_cast<std::int64_t>(numbers.size()), weight);
    if (search == nullptr) return false;
    std::int64_t outcome[7] = {};
    for (int turn = 0; turn < 4 && !outcome[4]; ++turn) {
        const auto states = hostile ? odd(random) % 200 : 200;
        const auto work = random() % 2 ? INT64_MAX : static_cast<std::int64_t>(random() % 2000);
        const auto floor = hostile ? odd(random) : turn,
                   ceiling = hostile ? odd(random) : INT64_MAX;
        if (memopt_downsets_advance(search, states, work, std::int64_t{1} << 24, floor, ceiling,
                                    outcome))
            break;
    }
    if (outcome[6]) {
        std::vector<std::int64_t> order(static_cast<std::size_t>(numbers[0]));
        memopt_downsets_order(search, order.data());
    }
    memopt_downsets_destroy(search);
    return true;
}

bool search_corners(const Numbers& numbers, Random& random, bool hostile) {
    const double costs = hostile && random() % 8 == 0 ? -1.0 : 0.5;
    void* search = memopt_corners_create(numbers.data(),
                                         static_cast<std::int64_t>(numbers.size()), costs);
    if (search == nullptr) return false;
    std::int64_t outcome[2] = {};
    Numbers rank(static_cast<std::size_t>(numbers[0]));
    for (int turn = 0; turn < 4 && outcome[1] < 2; ++turn) {
        for (auto& place : rank) place = hostile ? odd(random) % 1000 : turn;
        memopt_corners_begin(search, rank.data(), turn % 2, outcome[0] + 100);
        for (int slice = 0; slice < 5; ++slice) {
            const auto pause = hostile ? odd(random) : INT64_MAX;
            if (memopt_corners_advance(search, pause, outcome) || outcome[1]) break;
        }
    }
    memopt_corners_offsets(search, rank.data());
    memopt_corners_destroy(search);
    return true;
}

bool search_ejections(const Numbers& numbers, Random& random, bool hostile) {
    void* search = memopt_ejections_create(numbers.data(),
                                           static_cast<std::int64_t>(numbers.size()));
    if (search == nullptr) return false;
    std::int64_t outcome[2] = {};
    Numbers offsets(static_cast<std::size_t>(numbers[0]));
    for (int turn = 0; turn < 4; ++turn) {
        for (auto& offset : offsets) offset = hostile ? odd(random) : 0;
        const auto height = hostile ? odd(random) : 100;
        if (memopt_ejections_begin(search, offsets.data(), height)) continue;
        memopt_ejections_advance(search, outcome[0] + 500, outcome);
        memopt_ejections_lift(search, hostile ? odd(random) : turn % 2 ? -1 : 200);
        if (memopt_ejections_advance(search, outcome[0] + 10'000, outcome)) break;
    }
    memopt_ejections_offsets(search, offsets.data());
    memopt_ejections_destroy(search);
    return true;
}

bool search_beam(const Numbers& numbers, Random& random, bool hostile) {
    void* search =
        memopt_beam_create(numbers.data(), static_cast<std::int64_t>(numbers.size()));
    if (search == nullptr) return false;
    std::int64_t outcome[2] = {};
    Numbers weights(static_cast<std::size_t>(numbers[1])),
        offsets(static_cast<std::size_t>(numbers[0]));
    for (int turn = 0; turn < 3; ++turn) {
        for (auto& weight : weights) weight = hostile ? odd(random) & (INT64_MAX >> 2) : 0;
        const auto width = hostile ? odd(random) % 16 : 4;
        if (memopt_beam_begin(search, width, weights.data())) break;
        if (memopt_beam_advance(search, outcome[0] + 500, outcome)) break;
        memopt_beam_offsets(search, offsets.data());
    }
    memopt_beam_destroy(search);
    return true;
}

bool place_best_fit(const Numbers& numbers) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    Numbers offsets(numbers.size());  // an item takes more numbers than one
    return memopt_best_fit(numbers.data(), count, offsets.data()) == 0;
}

std::string broken_text(std::string text, Random& random) {
    static const char* const parts[] = {"\"", "{", "}", "[", "]", ",", ":", "\\", "-", "0",
                                        "99999999999999999999", "1e9", "null", "true", "\x7f",
                                        "\"name\"", "\"macs\"", "\"bytes\": 4611686018427387904"};
    for (auto changes = 1 + random() % 3; changes; --changes) {
        const auto at = random() % (text.size() + 1);
        text.replace(at, random() % 4 ? random() % 3 : random() % 400,
                     parts[random() % std::size(parts)]);
    }
    return text;
}

bool solve_graphs(const Numbers& numbers, Random& random, bool hostile) {
    const auto count = static_cast<std::size_t>(numbers[0]);
    Numbers settings(numbers.begin() + 1, numbers.begin() + 1 + static_cast<long>(count));
    std::string text;
    for (std::size_t i = 1 + count; i < numbers.size(); ++i)
        text.push_back(static_cast<char>(numbers[i]));
    if (hostile && random() % 8 == 0) settings = broken(settings, random);
    const std::string other = hostile ? broken_text(text, random) : text;
    const std::int64_t half = static_cast<std::int64_t>(text.size()),
                       ends[] = {half, half + static_cast<std::int64_t>(other.size())};
    // each as long as it is promised, so that a step beyond is seen
    std::vector<char> names(text.size() + other.size());
    std::vector<unsigned char> operators(2 * 64);
    Numbers figures(2 * 9);
    const auto done = memopt_json_graphs_solve(
        (text + other).c_str(), ends, 2, settings.data(),
        static_cast<std::int64_t>(settings.size()), "int8\nfloat32\n",
        hostile ? odd(random) : INT64_MAX, figures.data(), operators.data(), names.data());
    if (!hostile && (done != 2 || !figures[0] || !figures[9])) std::abort();
    return done == 2 && figures[9];
}

// Numbers as whole ones, and their lower halves as the bits of floats.
bool write_array(const Numbers& numbers, Random& random) {
    std::vector<char> out(32 * numbers.size() + 1);
    std::vector<float> reals;
    for (const auto number : numbers)
        reals.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(number)));
    const auto count = static_cast<std::int64_t>(numbers.size());
    auto column = static_cast<std::int64_t>(random() % 200);
    memopt_array_text(nullptr, numbers.data(), count, &column, out.data());
    return memopt_array_text(reals.data(), nullptr, count, &column, out.data()) >= 0;
}

bool search(const Numbers& numbers, Random& random, std::int64_t kind, bool hostile) {
    if (kind == 4) return write_array(numbers, random) || !hostile;
    if (kind == 3) return solve_graphs(numbers, random, hostile);
    if (kind == 6) return place_best_fit(numbers);
    if (kind == 5) return search_beam(numbers, random, hostile);
    if (kind == 2) return search_ejections(numbers, random, hostile);
    return kind ? search_corners(numbers, random, hostile)
                : search_downsets(numbers, random, hostile);
}

}  // namespace

int main(int, char** arguments) {
    Random random(std::strtoull(arguments[1], nullptr, 10));
    const auto mutations = std::strtoull(arguments[2], nullptr, 10);
    long accepted = 0, refused = 0;
    if (memopt_downsets_create(nullptr, 5, 1.0) || memopt_downsets_create(nullptr, 0, 1.0))
        return 1;
    if (memopt_downsets_create(ODD, -1, 1.0)) return 1;
    std::int64_t head[2];
    while (std::fread(head, sizeof head, 1, stdin)) {
        Numbers numbers(static_cast<std::size_t>(head[1]));
        if (std::fread(numbers.data(), 8, numbers.size(), stdin) != numbers.size()) return 1;
        if (!search(numbers, random, head[0], false)) return 1;
        for (auto i = head[0] == 3 ? mutations / 5 : mutations; i; --i) {
            const bool is_text = head[0] == 3;  // which breaks itself
            const bool was = search(is_text ? numbers : broken(numbers, random), random, head[0], true);
            (was ? accepted : refused) += 1;
        }
    }
    std::printf("%ld %ld\n", accepted, refused);
}
