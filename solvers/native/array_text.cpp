// Numbers of a constant array as C text, as backends/c/emit/c_text.py writes them.
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>

#include "interface.hpp"

namespace memopt {
namespace {

constexpr std::int64_t LINE = 100;
constexpr int DIGITS = 9;  // what tells any two float32 apart

// A line that is being filled: `column` bytes of words and what parts them, 0 before the first.
struct Line {
    char* out;
    std::int64_t column;

    void add(std::string_view word) {
        const auto size = static_cast<std::int64_t>(word.size()) + 2;
        std::string_view between = ", ";
        if (column == 0) {
            between = "  ";
        } else if (column + size > LINE - 1) {
            between = ",\n  ";
            column = 0;
        }
        std::memcpy(out, between.data(), between.size());
        std::memcpy(out + between.size(), word.data(), word.size());
        out += between.size() + word.size();
        column += size;
    }
};

struct Word {
    std::array<char, 40> text;
    std::size_t size = 0;

    void add(char letter) { text[size++] = letter; }
    void add(std::string_view more) {
        std::memcpy(text.data() + size, more.data(), more.size());
        size += more.size();
    }
    [[nodiscard]] std::string_view view() const { return {text.data(), size}; }
};

#if defined(__SIZEOF_INT128__)
__extension__ using Wide = unsigned __int128;

constexpr int LARGEST_POWER = 37;
constexpr auto POWERS = [] {
    std::array<Wide, LARGEST_POWER + 1> powers{};
    powers[0] = 1;
    for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = 10 * powers[k - 1];
    return powers;
}();
constexpr int MOST_UP = 27;  // 24 bits times 10^27 are less than 2^114

// mantissa * 2^exponent * 10^power, rounded to nearest and to even; false if it takes more bits.
bool scaled(std::uint32_t mantissa, int exponent, int power, Wide& rounded) {
    Wide number = mantissa, unit = 1;
    if (power > MOST_UP || power < -LARGEST_POWER) return false;
    if (power >= 0) {
        number *= POWERS[static_cast<std::size_t>(power)];
    } else {
        unit = POWERS[static_cast<std::size_t>(-power)];
    }
    if (exponent >= 0) {
        if (power >= 0 && exponent > 8) return false;  // never: it is less than 10^9
        number <<= exponent;
    } else {
        if (power < 0 || exponent < -120) return false;  // never: the former is at least 10^9
        unit = Wide{1} << -exponent;
    }
    rounded = number / unit;
    const Wide rest = number - rounded * unit, other = unit - rest;
    rounded += rest > other || (rest == other && (rounded & 1)) ? 1 : 0;
    return true;
}

// Add the word of a positive number, as "%.9g" has it; false for one that is left to Python.
bool add_real(Word& word, std::uint32_t bits) {
    const auto biased = static_cast<int>(bits >> 23);
    std::uint32_t mantissa = bits & 0x7fffffu;
    if (biased == 0) return false;
    mantissa |= 0x800000u;
    const int exponent = biased - 150;
    int place = ((biased - 127) * 1233) >> 12;  // of the first digit, or one less
    Wide rounded = 0;
    for (;; ++place) {
        if (!scaled(mantissa, exponent, DIGITS - 1 - place, rounded)) return false;
        if (rounded <= 1'000'000'000) break;
    }
    // rounded up to the next power, or one less than it and a digit more than asked for
    if (rounded == 1'000'000'000) {
        rounded = 100'000'000;
        ++place;
    }
    if (rounded < 100'000'000) return false;
    char digits[DIGITS];
    auto value = static_cast<std::uint32_t>(rounded);
    for (int k = DIGITS; k-- > 0; value /= 10) digits[k] = static_cast<char>('0' + value % 10);
    int count = DIGITS;
    while (count > 1 && digits[count - 1] == '0') --count;
    const std::string_view shown(digits, static_cast<std::size_t>(count));
    if (place < -4 || place >= DIGITS) {
        word.add(shown[0]);
        if (count > 1) {
            word.add('.');
            word.add(shown.substr(1));
        }
        const int size = place < 0 ? -place : place;
        word.add(place < 0 ? "e-" : "e+");
        word.add(static_cast<char>('0' + size / 10));
        word.add(static_cast<char>('0' + size % 10));
    } else if (place < 0) {
        word.add("0.");
        for (int k = -1; k > place; --k) word.add('0');
        word.add(shown);
    } else {
        for (int k = 0; k <= place; ++k)
            word.add(k < count ? digits[k] : '0');
        word.add('.');
        if (count > place + 1) {
            word.add(shown.substr(static_cast<std::size_t>(place) + 1));
        } else {
            word.add('0');
        }
    }
    word.add('f');
    return true;
}
#else
bool add_real(Word&, std::uint32_t) { return false; }
#endif

bool add_float(Word& word, float number) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const auto size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) {
        word.add("NAN");
        return true;
    }
    if (bits != size) word.add('-');
    if (size == 0x7f800000u) {
        word.add("INFINITY");
    } else if (size == 0) {
        word.add("0.0f");
    } else {
        return add_real(word, size);
    }
    return true;
}

void add_whole(Word& word, std::int64_t number) {
    if (number == INT64_MIN || number == INT32_MIN) {  // C has no literals of them
        word.add('(');
        add_whole(word, number + 1);
        word.add(" - 1)");
        return;
    }
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    word.add({digits, static_cast<std::size_t>(end - digits)});
}

}  // namespace
}  // namespace memopt

std::int64_t memopt_array_text(const float* reals, const std::int64_t* wholes, std::int64_t count,
                               std::int64_t* column, char* out) {
    memopt::Line line{out, *column};
    for (std::int64_t k = 0; k < count; ++k) {
        memopt::Word word;
        if (reals == nullptr) {
            memopt::add_whole(word, wholes[k]);
        } else if (!memopt::add_float(word, reals[k])) {
            return -1;
        }
        line.add(word.view());
    }
    *column = line.column;
    return line.out - out;
}
