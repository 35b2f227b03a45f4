// The C interface of the library: a search is made of a stream of numbers, goes on for so many
// nodes, and is destroyed. No exception leaves it, and nothing is kept between searches.
#pragma once

#include <cstdint>

#if defined(_WIN32)
#define MEMOPT_API extern "C" __declspec(dllexport)
#else
#define MEMOPT_API extern "C" __attribute__((visibility("default")))
#endif

// Raised with every change of this interface or of a stream; solvers/native/library.py has the same
// number.
constexpr std::int32_t MEMOPT_INTERFACE = 8;

MEMOPT_API std::int32_t memopt_interface();

// The search over downsets of solvers/scheduling/best_first.py; downsets.cpp describes the stream.
// Null if the stream is malformed, its sums overflow, or there is no memory.
MEMOPT_API void* memopt_downsets_create(const std::int64_t* numbers, std::int64_t count,
                                        double weight);

// Go on for at most `states` states, for so much `work`, words looked at, about a nanosecond each,
// until the states known take more than `memory` bytes, or to the end. `floor` and `ceiling` are as
// in Python. `outcome`: states, waiting, memory, lower bound, exhausted, paused within the last
// state, order found. Return 0, or 1 where memory ran out, after which the search can only be
// destroyed.
MEMOPT_API std::int32_t memopt_downsets_advance(void* search, std::int64_t states,
                                                std::int64_t work, std::int64_t memory,
                                                std::int64_t floor, std::int64_t ceiling,
                                                std::int64_t* outcome);

// Write the order that was found: as many numbers as there are operators.
MEMOPT_API void memopt_downsets_order(const void* search, std::int64_t* operators);

MEMOPT_API void memopt_downsets_destroy(void* search);

// The search over corners of solvers/placement/skyline_corners.py; corners.cpp describes the
// stream. Null as above.
MEMOPT_API void* memopt_corners_create(const std::int64_t* numbers, std::int64_t count,
                                       double slack_costs);

// Begin a run of its own, with what is known of failed states and weights: the rank of each item,
// whether valleys go on away from their corners, and the node at which it stops.
MEMOPT_API void memopt_corners_begin(void* search, const std::int64_t* rank,
                                     std::int32_t interior, std::int64_t limit);

// Go on to node `pause`. `outcome`: nodes of all runs; 0 paused, 1 stopped at its limit, 2 solved,
// 3 impossible. Return 0, or 1 where memory ran out, after which it can only be destroyed.
MEMOPT_API std::int32_t memopt_corners_advance(void* search, std::int64_t pause,
                                               std::int64_t* outcome);

// Write the offset of each item.
MEMOPT_API void memopt_corners_offsets(const void* search, std::int64_t* offsets);

MEMOPT_API void memopt_corners_destroy(void* search);

// The search by ejections of solvers/placement/ejections.py; ejections.cpp describes the stream.
// Null as above.
MEMOPT_API void* memopt_ejections_create(const std::int64_t* numbers, std::int64_t count);

// Begin below `height` from the offset of each item. Return 0, or 1 for offsets that overflow,
// after which the search can only be begun again or destroyed.
MEMOPT_API std::int32_t memopt_ejections_begin(void* search, const std::int64_t* offsets,
                                               std::int64_t height);

// Take a higher height from now on; where it is negative any: what waits is placed above what
// stands, and nothing is moved.
MEMOPT_API void memopt_ejections_lift(void* search, std::int64_t height);

// Go on until `work` pieces were looked at in all. `outcome`: pieces; 0 paused, 1 solved, 2
// impossible. Return 0, or 1 where memory ran out, after which it can only be destroyed.
MEMOPT_API std::int32_t memopt_ejections_advance(void* search, std::int64_t work,
                                                 std::int64_t* outcome);

// Write the offset of each item.
MEMOPT_API void memopt_ejections_offsets(const void* search, std::int64_t* offsets);

MEMOPT_API void memopt_ejections_destroy(void* search);

// The beam of skylines of solvers/placement/skyline_beam.py; skyline_beam.cpp describes the stream.
// Null as above.
MEMOPT_API void* memopt_beam_create(const std::int64_t* numbers, std::int64_t count);

// Begin with nothing placed: the states of each level, and by section the bits of a double, what a
// byte that is lost is rated. Return 0, or 1 where memory ran out.
MEMOPT_API std::int32_t memopt_beam_begin(void* search, std::int64_t width,
                                          const std::int64_t* weights);

// Go on until `work` states were looked at in all. `outcome`: states; 0 paused, 1 solved, 2 nothing
// found. Return 0, or 1 where memory ran out, after which it can only be destroyed.
MEMOPT_API std::int32_t memopt_beam_advance(void* search, std::int64_t work,
                                            std::int64_t* outcome);

// Write the offset of each item.
MEMOPT_API void memopt_beam_offsets(const void* search, std::int64_t* offsets);

MEMOPT_API void memopt_beam_destroy(void* search);

// Best fit of solvers/placement/methods/best_fit.py, at once; best_fit.cpp describes the stream.
// Write the offset of each item. Return 0, or 1 where a search would be null.
MEMOPT_API std::int32_t memopt_best_fit(const std::int64_t* numbers, std::int64_t count,
                                        std::int64_t* offsets);

// Solve JSON graphs, those of src/memopt/api/plain_graphs.py, as src/memopt/api/peaks.py does. Graph
// i is the text from ends[i - 1], or 0, to ends[i]; `settings` and `elements` are as small_graphs.py
// makes them. Go on until so much `work` is spent, a byte of text or a hundredth of a state each, and
// return how many graphs that were, one at least; -1 for settings that are malformed.
//
// Per graph: 9 `figures`, which are whether it was solved (if not, the rest is nothing, and Python
// does it), peak, lower bound, whether a flow proves it, states, whether multiplications are known,
// these, bytes of weights, nanoseconds; 64 `operators`, of which the order takes the first; and into `names`, from
// where its text begins, the names in that order, a line break behind each.
MEMOPT_API std::int64_t memopt_json_graphs_solve(const char* texts, const std::int64_t* ends,
                                                 std::int64_t count, const std::int64_t* settings,
                                                 std::int64_t setting_count, const char* elements,
                                                 std::int64_t work, std::int64_t* figures,
                                                 unsigned char* operators, char* names);

// Write the numbers of a constant array as C text, `reals` or, where that is null, `wholes`: each a
// literal, as many on a line as it takes, behind a line that has `column` bytes so far, 0 before the
// first word. Return the bytes written into `out`, at most 32 for each number, or -1 for numbers
// that Python writes.
MEMOPT_API std::int64_t memopt_array_text(const float* reals, const std::int64_t* wholes,
                                          std::int64_t count, std::int64_t* column, char* out);
