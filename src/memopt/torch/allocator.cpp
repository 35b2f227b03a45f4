// PyTorch's allocator for the CPU while a plan is executed or measured: it gives the allocations of
// one operator, in their order, the addresses that the plan has for them, takes all others from
// the system, and keeps count of both. A C interface, which ctypes loads.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

// An allocation of `bytes` gets `address`; 0: the system's memory.
struct Entry {
  uint64_t bytes;
  uint64_t address;
};

// `bytes` were allocated at `address`, or, 0, what lies there was freed.
struct Event {
  uint64_t bytes;
  uint64_t address;
};

struct Counters {
  uint64_t served;         // allocations at their planned address
  uint64_t outside;        // allocations that no entry was for
  uint64_t unused;         // entries that no allocation came for
  uint64_t outside_bytes;  // from the system and not yet freed, rounded up to their alignment
  uint64_t outside_peak;   // the most of these since `begin`
};

struct State {
  std::mutex mutex;
  std::vector<Entry> entries;
  size_t next = 0;
  std::thread::id caller;  // what other threads allocate comes in no order, so it is outside
  uint64_t first = 0;      // of the arena
  uint64_t end = 0;
  bool records = false;
  bool is_running = false;  // between `begin` and `end`
  std::vector<Event> events;
  std::unordered_map<uint64_t, uint64_t> sizes;
  Counters counters{};
};

State& state() {
  static State* const only = new State();  // tensors may be freed after static objects
  return *only;
}

// Also of workspace that a library takes and gives back by address alone.
void release(void* data) {
  if (data == nullptr) {
    return;
  }
  const auto address = reinterpret_cast<uint64_t>(data);
  State& s = state();
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    if (s.records) {
      s.events.push_back({0, address});
    }
    if (address >= s.first && address < s.end) {
      return;
    }
    const auto found = s.sizes.find(address);
    if (found != s.sizes.end()) {
      s.counters.outside_bytes -= found->second;
      s.sizes.erase(found);
    }
  }
  c10::free_cpu(data);  // also what PyTorch's own allocator gave before
}

// Of what lies in the arena, whichever arena that was: a tensor may outlive its run by an exception.
void leave(void* data) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (s.records) {
    s.events.push_back({0, reinterpret_cast<uint64_t>(data)});
  }
}

struct Planned final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    const bool is_empty = bytes == 0;
    const Taken taken = is_empty ? Taken{nullptr, false} : take(bytes);
    const c10::DeleterFnPtr deleter = taken.is_served ? &leave : &release;
    return {taken.data, taken.data, deleter, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &release;
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  struct Taken {
    void* data;
    bool is_served;
  };
  static Taken take(uint64_t bytes) {
    State& s = state();
    const std::lock_guard<std::mutex> lock(s.mutex);
    uint64_t address = 0;
    bool is_served = false;
    const bool is_caller = std::this_thread::get_id() == s.caller;
    if (is_caller && s.next < s.entries.size() && s.entries[s.next].bytes == bytes) {
      address = s.entries[s.next++].address;
    } else {
      ++s.counters.outside;
    }
    if (address != 0) {
      is_served = true;
      ++s.counters.served;
    } else {
      address = reinterpret_cast<uint64_t>(c10::alloc_cpu(bytes));
      const uint64_t rounded = (bytes + c10::gAlignment - 1) / c10::gAlignment * c10::gAlignment;
      s.sizes[address] = rounded;
      s.counters.outside_bytes += rounded;
      if (s.counters.outside_bytes > s.counters.outside_peak) {
        s.counters.outside_peak = s.counters.outside_bytes;
      }
    }
    if (s.records && is_caller) {
      s.events.push_back({bytes, address});
    }
    return {reinterpret_cast<void*>(address), is_served};
  }
};

Planned planned;
c10::Allocator* before = nullptr;

}  // namespace

extern "C" {

// From here to `memopt_end` PyTorch's tensors are ours; the arena has the bytes from `first` to
// `end`. 0 if another allocator has been put before this one, -1 if they are ours already.
int memopt_begin(uint64_t first, uint64_t end, int records) {
  State& s = state();
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    if (s.is_running) {
      return -1;
    }
    s.is_running = true;
    const uint64_t outside_bytes = s.counters.outside_bytes;
    s.entries.clear();
    s.events.clear();
    s.next = 0;
    s.caller = std::this_thread::get_id();
    s.first = first;
    s.end = end;
    s.records = records != 0;
    s.counters = Counters{0, 0, 0, outside_bytes, outside_bytes};
  }
  before = c10::GetCPUAllocator();
  c10::SetCPUAllocator(&planned, UINT8_MAX);
  const bool is_ours = c10::GetCPUAllocator() == &planned;
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.is_running = is_ours;
  return is_ours ? 1 : 0;
}

// PyTorch's tensors come from where they came before; those of the arena are no more.
void memopt_end() {
  c10::SetCPUAllocator(before, UINT8_MAX);
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.counters.unused += s.entries.size() - s.next;
  s.entries.clear();
  s.next = 0;
  s.records = false;
  s.is_running = false;
}

// The next allocations are those of one operator.
void memopt_serve(const Entry* entries, uint64_t count) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.counters.unused += s.entries.size() - s.next;
  s.entries.assign(entries, entries + count);
  s.next = 0;
}

// Takes at most `room` of the events since this was called last; returns how many there were.
uint64_t memopt_events(Event* events, uint64_t room) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const uint64_t count = s.events.size();
  if (count <= room) {
    if (count != 0) {
      std::memcpy(events, s.events.data(), count * sizeof(Event));
    }
    s.events.clear();
  }
  return count;
}

void memopt_counters(Counters* counters) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  *counters = s.counters;
}

}  // extern "C"
