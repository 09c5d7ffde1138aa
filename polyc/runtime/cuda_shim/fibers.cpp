// Launches: blocks one after the other, and in a block each thread as a fiber, with real barriers.
//
// A fiber starts on its stack once (ucontext) and then runs one thread after another, so that a change of fibers is a
// longjmp and no call of the system.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "shim.h"

// What the header declares as constants.
extern "C" shim::Index threadIdx, blockIdx, blockDim, gridDim;
shim::Index threadIdx, blockIdx, blockDim, gridDim;

// What the rewritten program has at its end: the kernels' names, and the threads of their launch bounds (0: none).
extern "C" const char *const polyc_shim_kernels[];
extern "C" const unsigned polyc_shim_kernel_threads[];

namespace shim {

State state;
extern const char *const *kernels;
const char *const *kernels = polyc_shim_kernels;

namespace {

constexpr size_t kGuardBytes = 64 << 10;  // whole pages on any machine
constexpr int kInvalidValue = 1, kInvalidConfiguration = 9, kOutOfResources = 701, kLaunchFailure = 719;

enum Stage { kReady, kAtBarrier, kAtWarpBarrier, kEnded };

struct Fiber {
    jmp_buf jump;
    bool started;
    Stage stage;
    int site, line;
    unsigned mask;
    bool orders;  // a warp's barrier that orders accesses to memory, too
};

Fiber fibers[kMostThreads];
char *stacks;
unsigned stack_count;  // whose guards are set
jmp_buf scheduler;
bool abandoned;
unsigned thread_count;
uint32_t epoch;
unsigned launches, intervals;
uint64_t shuffle_state;
void (*kernel_body)(void *);
void *kernel_data;

// The first epochs of the launch's blocks, to say of an epoch whose it was.
struct BlockStart {
    uint32_t first;
    Index index;
};
BlockStart *starts;
size_t start_count, start_capacity;

char *stack_of(unsigned thread) { return stacks + thread * (kStackBytes + kGuardBytes) + kGuardBytes; }

[[noreturn]] void run_threads()
{
    for (;;) {
        kernel_body(kernel_data);
        Fiber &fiber = fibers[state.thread];
        fiber.stage = kEnded;
        if (!_setjmp(fiber.jump))
            _longjmp(scheduler, 1);
    }
}

bool make_stacks()
{
    size_t bytes = kMostThreads * (kStackBytes + kGuardBytes);
    if (!stacks) {
        void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return false;
        stacks = static_cast<char *>(memory);
    }
    for (; stack_count < thread_count; ++stack_count)
        mprotect(stack_of(stack_count) - kGuardBytes, kGuardBytes, PROT_NONE);
    return true;
}

__attribute__((noinline)) void resume(unsigned thread)
{
    Fiber &fiber = fibers[thread];
    threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
    state.thread = thread;
    state.warp = thread / kWarp;
    state.epoch = state.warp_first[state.warp];
    state.stack = reinterpret_cast<uintptr_t>(stack_of(thread));
    state.device = true;
    if (!_setjmp(scheduler)) {
        if (fiber.started)
            _longjmp(fiber.jump, 1);
        fiber.started = true;
        static ucontext_t context;
        getcontext(&context);
        context.uc_stack.ss_sp = stack_of(thread);
        context.uc_stack.ss_size = kStackBytes;
        context.uc_link = nullptr;
        makecontext(&context, run_threads, 0);
        setcontext(&context);
    }
    state.device = false;
}

uint64_t random_number()
{
    shuffle_state ^= shuffle_state << 13;
    shuffle_state ^= shuffle_state >> 7;
    return shuffle_state ^= shuffle_state << 17;
}

// Forward, backward, at random, in turn: a result that hangs on the order shows.
void order_threads(uint16_t *order, unsigned turn)
{
    for (unsigned k = 0; k < thread_count; ++k)
        order[k] = turn % 3 == 1 ? thread_count - 1 - k : k;
    if (turn % 3 == 2)
        for (unsigned k = thread_count; k > 1; --k) {
            unsigned other = random_number() % k;
            uint16_t kept = order[k - 1];
            order[k - 1] = order[other];
            order[other] = kept;
        }
}

void begin_interval()
{
    state.interval_first = ++epoch;
    for (uint32_t &first : state.warp_first)
        first = epoch;
}

// Lets the warps go on whose threads have all come to their barrier; false where there is none.
bool release_warps()
{
    bool any = false;
    for (unsigned first = 0; first < thread_count; first += kWarp) {
        unsigned end = first + kWarp < thread_count ? first + kWarp : thread_count;
        unsigned mask = 0, waiting = 0, existing = 0;
        bool orders = true, together = true;
        int site = 0;
        for (unsigned t = first; t < end; ++t) {
            existing |= 1u << (t - first);
            if (fibers[t].stage == kAtWarpBarrier) {
                // What a warp runs together is one instruction for all of its threads.
                together = together && (!waiting || orders == fibers[t].orders) &&
                           (!waiting || orders || site == fibers[t].site);
                orders = fibers[t].orders;
                site = fibers[t].site;
                mask |= fibers[t].mask;
                waiting |= 1u << (t - first);
            }
        }
        if (!waiting || (mask & existing) != waiting || !together || (!orders && waiting != 0xffffffffu))
            continue;
        any = true;
        if (orders)
            state.warp_first[first / kWarp] = ++epoch;
        for (unsigned t = first; t < end; ++t)
            if (fibers[t].stage == kAtWarpBarrier)
                fibers[t].stage = kReady;
    }
    return any;
}

// All threads ended, or all at one barrier; anything else is a fault. True where there is more to run.
bool pass_barrier()
{
    unsigned differs = 0;
    while (differs < thread_count && fibers[differs].stage == fibers[0].stage &&
           (fibers[0].stage == kEnded || fibers[differs].site == fibers[0].site))
        ++differs;
    if (differs == thread_count && fibers[0].stage != kAtWarpBarrier) {
        bool more = fibers[0].stage == kAtBarrier;
#ifdef POLYC_SHIM_COUNT
        if (more)
            count_barrier();
#endif
        for (unsigned t = 0; more && t < thread_count; ++t)
            fibers[t].stage = kReady;
        return more;
    }
    if (differs == thread_count)
        differs = 0;
    char texts[2][256], names[2][96];
    for (int k = 0; k < 2; ++k) {
        unsigned thread = k ? differs : 0;
        const Fiber &fiber = fibers[thread];
        who(epoch, thread, names[k], sizeof names[k]);
        if (fiber.stage == kEnded)
            snprintf(texts[k], sizeof texts[k], "%s has ended", names[k]);
        else
            snprintf(texts[k], sizeof texts[k], "%s waits at line %d", names[k], fiber.line);
    }
    tell("divergent barrier", 0, "kernel %s: %s, %s", state.kernel, texts[0], texts[1]);
    fail(kLaunchFailure, true);
    abandoned = true;
    return false;
}

// Runs the threads that are ready until each has ended or waits.
#ifdef POLYC_SHIM_COUNT
void run_ready(const uint16_t *)
{
    for (unsigned first = 0; first < thread_count && !abandoned; first += kWarp) {
        const unsigned count = thread_count - first < kWarp ? thread_count - first : kWarp;
        uint32_t waiting;
        begin_warp(count == kWarp ? 0xffffffffu : (1u << count) - 1);
        do {
            waiting = 0;
            for (unsigned lane = 0; lane < count && !abandoned; ++lane) {
                const Fiber &fiber = fibers[first + lane];
                if (fiber.stage == kReady && has_room(lane))
                    resume(first + lane);
                waiting |= (uint32_t)(fiber.stage == kReady) << lane;
            }
            merge_warp(waiting);
        } while (waiting && !abandoned);
    }
}
#else
void run_ready(const uint16_t *order)
{
    for (unsigned k = 0; k < thread_count && !abandoned; ++k)
        if (fibers[order[k]].stage == kReady)
            resume(order[k]);
}
#endif

void run_block()
{
    uint16_t order[kMostThreads];
    for (unsigned t = 0; t < thread_count; ++t)
        fibers[t].stage = kReady;
    do {
        begin_interval();
        order_threads(order, intervals++);
        do
            run_ready(order);
        while (!abandoned && release_warps());
    } while (!abandoned && pass_barrier());
}

// 0, or CUDA's error for what no device can launch.
int check_limits(Index grid, Index block, size_t shared_bytes, size_t static_bytes)
{
    size_t threads = (size_t)block.x * block.y * block.z;
    if (block.x > 1024 || block.y > 1024 || block.z > 64 || threads > kMostThreads || threads == 0) {
        tell("launch", 0, "kernel %s: a block of %u x %u x %u threads; at most 1024 x 1024 x 64, and 1024 in all, at least 1",
             state.kernel, block.x, block.y, block.z);
        return kInvalidConfiguration;
    }
    if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535 || grid.x == 0 || grid.y == 0 || grid.z == 0) {
        tell("launch", 0, "kernel %s: a grid of %u x %u x %u blocks; at most 2147483647 x 65535 x 65535, at least 1",
             state.kernel, grid.x, grid.y, grid.z);
        return kInvalidConfiguration;
    }
    if (shared_bytes > kMostSharedBytes || static_bytes + shared_bytes > kMostSharedBytes) {
        tell("launch", 0, "kernel %s: %zu bytes of shared memory; at most %zu", state.kernel,
             static_bytes + shared_bytes, kMostSharedBytes);
        return kInvalidValue;
    }
    for (unsigned k = 0; kernels[k]; ++k)
        if (!strcmp(kernels[k], state.kernel) && polyc_shim_kernel_threads[k] &&
            threads > polyc_shim_kernel_threads[k]) {
            tell("launch", 0, "kernel %s: %zu threads a block; its launch bounds allow %u", state.kernel, threads,
                 polyc_shim_kernel_threads[k]);
            return kOutOfResources;
        }
    return 0;
}

void wait_at(Stage stage, int site, int line, unsigned mask, bool orders = true)
{
    if (!state.device)
        return;
    Fiber &fiber = fibers[state.thread];
    fiber.stage = stage;
    fiber.site = site;
    fiber.line = line;
    fiber.mask = mask;
    fiber.orders = orders;
    if (!_setjmp(fiber.jump))
        _longjmp(scheduler, 1);
}

bool start_block(Index index)
{
    if (start_count == start_capacity) {
        size_t capacity = start_capacity ? 2 * start_capacity : 1024;
        void *larger = realloc(starts, capacity * sizeof *starts);
        if (!larger)
            return false;
        starts = static_cast<BlockStart *>(larger);
        start_capacity = capacity;
    }
    state.block_first = epoch + 1;
    starts[start_count++] = {state.block_first, index};
    blockIdx = index;
    return true;
}

Region *shared[256];
unsigned shared_count;

// One block, whose shared memory holds nothing; false where the launch has come to its end.
bool run_one(Index index)
{
    if (abandoned)
        return false;
    if (!start_block(index)) {
        fail(kOutOfResources, false);
        return false;
    }
    for (unsigned s = 0; s < shared_count; ++s)
        memset(reinterpret_cast<void *>(shared[s]->begin), 0xff, shared[s]->size_bytes);
    run_block();
    return !abandoned;
}

void run_blocks(Index grid, [[maybe_unused]] Index block, [[maybe_unused]] size_t shared_bytes)
{
#ifdef POLYC_SHIM_COUNT
    count_launch(state.kernel, grid, block, shared_bytes, run_one);
#else
    const bool backward = launches++ % 2 == 1;
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    for (uint64_t k = 0; k < blocks; ++k) {
        const uint64_t b = backward ? blocks - 1 - k : k;
        if (!run_one({(unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y), (unsigned)(b / grid.x / grid.y)}))
            return;
    }
#endif
}

}  // namespace

void abandon()
{
    abandoned = true;
    fibers[state.thread].started = false;
    _longjmp(scheduler, 1);
}

#ifdef POLYC_SHIM_COUNT
void pause_thread() { wait_at(kReady, 0, 0, 0); }
#endif

void meet_in_warp(uintptr_t site, int line) { wait_at(kAtWarpBarrier, static_cast<int>(site), line, 0xffffffffu, false); }

void restart_orders()
{
    launches = intervals = 0;
    shuffle_state = 0;
}

// "thread (1, 0, 0) of block (2, 0, 0)"
const char *who(uint32_t at, unsigned thread, char *text, size_t size)
{
    size_t low = 0, high = start_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        (starts[middle].first <= at ? low : high) = middle;
    }
    Index block = start_count ? starts[low].index : Index{0, 0, 0};
    if (thread >= kMostThreads)
        snprintf(text, size, "threads of block (%u, %u, %u)", block.x, block.y, block.z);
    else
        snprintf(text, size, "thread (%u, %u, %u) of block (%u, %u, %u)", thread % blockDim.x,
                 thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y, block.x, block.y, block.z);
    return text;
}

}  // namespace shim

using namespace shim;

extern "C" void polyc_shim_barrier(int site, int line) { wait_at(kAtBarrier, site, line, 0); }
extern "C" void polyc_shim_warp_barrier(int site, int line, unsigned mask) { wait_at(kAtWarpBarrier, site, line, mask); }
extern "C" void *polyc_shim_dynamic_shared(void) { return reinterpret_cast<void *>(dynamic_shared()->begin); }

extern "C" void polyc_shim_launch(const char *kernel, Index grid, Index block, size_t shared_bytes,
                                  void (*body)(void *), void *data)
{
    if (failed_for_good())
        return;
    state.kernel = kernel;
    set_dynamic_shared(0);
    shared_count = shared_regions(kernel, shared, 256);
    size_t static_bytes = 0;
    for (unsigned k = 0; k < shared_count; ++k)
        static_bytes += shared[k]->size_bytes;
    if (int error = check_limits(grid, block, shared_bytes, static_bytes))
        return fail(error, false);
    set_dynamic_shared(shared_bytes);
    blockDim = block;
    gridDim = grid;
    thread_count = block.x * block.y * block.z;
    if (!make_stacks())
        return fail(kOutOfResources, false);
    if (!shuffle_state) {
        const char *seed = getenv("POLYC_SHIM_SEED");
        shuffle_state = 0x9e3779b97f4a7c15u ^ (seed ? strtoull(seed, nullptr, 10) << 1 : 0);
    }
    kernel_body = body;
    kernel_data = data;
    state.launch_first = epoch + 1;
    start_count = 0;
    abandoned = false;
    run_blocks(grid, block, static_bytes + shared_bytes);
    if (abandoned)
        for (Fiber &fiber : fibers)
            fiber.started = fiber.started && fiber.stage == kEnded;
}
