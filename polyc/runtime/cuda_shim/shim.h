// What the parts of the shim share: memory.cpp (allocations, the API), fibers.cpp (launches, barriers),
// shadow.cpp (the check of each access), tensor.cpp (what a warp computes together), and, where POLYC_SHIM_COUNT is
// defined, counters.cpp (what a profiler counts; then blocks and threads run in order, and races are not looked for).
//
// Time is a count of epochs. Each launch, block and barrier interval begins a new one, and a warp's barrier gives this
// warp a new one: so one number says in which launch, block and interval an access was. Blocks run one after another.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace shim {

constexpr unsigned kMostThreads = 1024, kWarp = 32, kMostWarps = kMostThreads / kWarp;
constexpr size_t kStackBytes = 256 << 10, kMostSharedBytes = 48 << 10;

enum Space { kGlobal, kShared, kConstant };
enum Access { kRead, kWrite, kAtomic };

// Threads of a block are numbers below kMostThreads; above, what stands for several of them.
constexpr uint16_t kSeveralOfWarp = kMostThreads, kSeveral = kMostThreads + kMostWarps;

// The accesses to some bytes that later ones may race with. Of reads by other blocks the first one tells; of reads in
// the block, those since the barrier. Epoch 0: never.
struct Cell {
    uint32_t written, first_read, last_read;
    uint16_t writer, reader;
};

// The same of atomic accesses, which are few.
struct AtomicCell {
    uint32_t first, last;
    uint16_t thread;
};

struct Region {
    uintptr_t begin;
    size_t size_bytes;
    Space space;
    char name[96];
    char owner[96];     // of a shared variable: its kernel
    size_t mask;        // the bytes of a cell, less one; at first all ones, and no cells
    unsigned shift;
    Cell *cells;
    AtomicCell *atomics;  // beside cells, where there are any
    void *memory;         // what free takes
};

struct Index {
    unsigned x, y, z;
};

struct State {
    bool device;       // a thread of a kernel runs
    uintptr_t stack;   // its stack
    unsigned thread;   // its number in the block
    unsigned warp;
    uint32_t epoch;    // of its accesses
    uint32_t launch_first, block_first, interval_first;
    uint32_t warp_first[kMostWarps];
    const char *kernel;
};
extern State state;

// memory.cpp
Region *find(uintptr_t address);
bool in_host_reach(uintptr_t address, size_t size_bytes);  // no byte of it is device memory
unsigned shared_regions(const char *kernel, Region **found, unsigned most);
void set_dynamic_shared(size_t size_bytes);
Region *dynamic_shared();
void fail(int error, bool for_good);  // for good: all later calls fail too, as after a fault of a real device
bool failed_for_good();
const char *library_file();
uintptr_t library_begin();
bool tell(const char *kind, uintptr_t where, const char *format, ...) __attribute__((format(printf, 3, 4)));

// fibers.cpp
[[noreturn]] void abandon();  // ends the launch
void meet_in_warp(uintptr_t site, int line);  // all 32 threads of a warp, at one place; orders no accesses to memory
void restart_orders();        // blocks and threads run in the orders of a program's start
const char *who(uint32_t epoch, unsigned thread, char *text, size_t size);

#ifdef POLYC_SHIM_COUNT
// fibers.cpp
void pause_thread();  // until its warp's traces are merged

// shadow.cpp: ends the launch where the bytes are not those of one array
const Region &check_bounds(uintptr_t address, size_t size_bytes, Access access, uintptr_t pc);

// counters.cpp
void begin_warp(uint32_t existing);
bool has_room(unsigned lane);
void merge_warp(uint32_t waiting);
void count_access(const Region &region, uintptr_t address, size_t size_bytes, Access access, uintptr_t pc);
void forget_counts();
void count_barrier();
void count_tensor(unsigned operations, bool half);  // of one lane
bool count_launch(const char *kernel, Index grid, Index block, size_t shared_bytes, bool (*run)(Index));
#endif

}  // namespace shim
