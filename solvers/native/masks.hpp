// Sets of small numbers as rows of words, bit i for number i.
//
// `Fixed` is the number of words where it is known when this is compiled, so that loops over one or
// two words vanish; 0 where it is not.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace memopt {

using Word = std::uint64_t;

constexpr std::size_t words_for(std::size_t bits) {
    return bits ? (bits + 63) / 64 : 1;
}

inline bool has(const Word* row, std::size_t bit) {
    return row[bit >> 6] >> (bit & 63) & 1;
}
inline void put(Word* row, std::size_t bit) {
    row[bit >> 6] |= Word{1} << (bit & 63);
}

inline Word mix(Word x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

template <std::size_t Fixed>
class Width {
  public:
    explicit Width(std::size_t words) : words_(words) {}

    std::size_t words() const {
        if constexpr (Fixed != 0) return Fixed;
        return words_;
    }

    bool within(const Word* part, const Word* all) const {
        for (std::size_t i = 0; i < words(); ++i)
            if (part[i] & ~all[i]) return false;
        return true;
    }

    bool equal(const Word* a, const Word* b) const {
        for (std::size_t i = 0; i < words(); ++i)
            if (a[i] != b[i]) return false;
        return true;
    }

    bool empty(const Word* row) const {
        for (std::size_t i = 0; i < words(); ++i)
            if (row[i]) return false;
        return true;
    }

    // Return whether a is less than b, both read as one number.
    bool less(const Word* a, const Word* b) const {
        for (std::size_t i = words(); i-- > 0;)
            if (a[i] != b[i]) return a[i] < b[i];
        return false;
    }

    int count(const Word* row) const {
        int total = 0;
        for (std::size_t i = 0; i < words(); ++i) total += std::popcount(row[i]);
        return total;
    }

    void copy(Word* to, const Word* from) const { std::memcpy(to, from, words() * sizeof(Word)); }

    void unite(Word* to, const Word* other) const {
        for (std::size_t i = 0; i < words(); ++i) to[i] |= other[i];
    }

    void subtract(Word* to, const Word* from, const Word* other) const {
        for (std::size_t i = 0; i < words(); ++i) to[i] = from[i] & ~other[i];
    }

    Word hash(const Word* row) const {
        Word h = 0x9e3779b97f4a7c15ULL;
        for (std::size_t i = 0; i < words(); ++i) {
            h = (h ^ row[i]) * 0x9ddfea08eb382d69ULL;
            h ^= h >> 32;
        }
        return mix(h);
    }

    // Call `action` with each number of the set, ascending.
    template <class Action>
    void each(const Word* row, Action action) const {
        for (std::size_t i = 0; i < words(); ++i)
            for (Word rest = row[i]; rest; rest &= rest - 1)
                action(i * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
    }

  private:
    std::size_t words_;
};

}  // namespace memopt
