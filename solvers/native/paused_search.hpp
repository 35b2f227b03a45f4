// What the interface asks of each search that pauses and has an offset per item.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>

namespace memopt {

// Goes on until `work` is `pause`; the outcome is the work, and what `advance` says of the search.
template <class Search>
std::int32_t advance_search(void* handle, std::int64_t pause, std::int64_t* outcome,
                            std::int64_t Search::*work) try {
    auto& search = *static_cast<Search*>(handle);
    outcome[1] = search.advance(pause);
    outcome[0] = search.*work;
    return 0;
} catch (const std::exception&) {
    return 1;
}

template <class Search>
void copy_offsets(const void* handle, std::int64_t* offsets) {
    const auto& known = static_cast<const Search*>(handle)->offsets;
    std::copy(known.begin(), known.end(), offsets);
}

}  // namespace memopt
