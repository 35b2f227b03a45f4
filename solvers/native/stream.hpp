// The numbers of a problem as Python writes them, one after the other, read without trust.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "masks.hpp"

namespace memopt {

// Sums of bytes stay below this, so that no level, and no level and step together, overflows.
constexpr std::int64_t LARGEST_SUM = std::int64_t{1} << 60;

class Refused : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

class Stream {
  public:
    Stream(const std::int64_t* numbers, std::int64_t count) : at_(numbers), end_(numbers) {
        if (count < 0 || (count > 0 && numbers == nullptr)) throw Refused("no numbers");
        if (count > 0) end_ = numbers + count;
    }

    std::int64_t next() {
        if (at_ == end_) throw Refused("too few numbers");
        return *at_++;
    }

    // A number from `low` to `high`, both included.
    std::int64_t next(std::int64_t low, std::int64_t high) {
        const std::int64_t value = next();
        if (value < low || value > high) throw Refused("a number out of its range");
        return value;
    }

    // How many entries follow: of each there is at least one number, so no count asks for memory
    // that the stream itself does not take.
    std::size_t count() { return static_cast<std::size_t>(next(0, end_ - at_ - 1)); }

    std::vector<std::uint32_t> indices(std::size_t below) {
        std::vector<std::uint32_t> result(count());
        for (auto& index : result)
            index = static_cast<std::uint32_t>(next(0, static_cast<std::int64_t>(below) - 1));
        return result;
    }

    // Bytes, which count towards the sum that may not overflow.
    std::int64_t bytes(std::int64_t low = 0) {
        const std::int64_t value = next(low, LARGEST_SUM);
        sum_ += value < 0 ? -value : value;
        if (sum_ > LARGEST_SUM) throw Refused("sums of bytes overflow");
        return value;
    }

    // A set of numbers below `bits`, appended to `rows`.
    void row(std::vector<Word>& rows, std::size_t bits) {
        const std::size_t words = words_for(bits);
        for (std::size_t i = 0; i < words; ++i) {
            const Word word = static_cast<Word>(next());
            const std::size_t first = i * 64;
            const std::size_t used = bits > first ? bits - first : 0;
            if (used < 64 && word >> used) throw Refused("a set with more than there is");
            rows.push_back(word);
        }
    }

    void finish() const {
        if (at_ != end_) throw Refused("too many numbers");
    }

  private:
    const std::int64_t* at_;
    const std::int64_t* end_;
    std::int64_t sum_ = 0;
};

}  // namespace memopt
