// The check of each access that the compiler saw: its hooks are those of -fsanitize=thread, without that library.
//
// Two accesses to a byte race where one of them writes, not both are atomic, and they are of two blocks of a launch, or
// of two threads of a block with no barrier between them. Blocks and threads run one at a time here, so that what was
// before is known exactly; a cell keeps as much of it as can still race.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#define HOOK extern "C" __attribute__((noinline))
#define PC reinterpret_cast<uintptr_t>(__builtin_return_address(0))

namespace shim {

namespace {

constexpr int kIllegalAddress = 700, kLaunchFailure = 719;
constexpr unsigned kSites = 256;
Region *last_regions[kSites];  // by place in the program: a place accesses one array, mostly

const char *verb(Access access) { return access == kRead ? "reads" : access == kWrite ? "writes" : "updates"; }

__attribute__((noinline, cold)) void tell_race(const Region &r, size_t offset, size_t size, Access access, uintptr_t pc,
                                               const char *earlier, uint32_t at, unsigned thread)
{
    char now[96], then[96];
    fail(kLaunchFailure, true);
    tell("race", pc, "kernel %s: %s %s %zu bytes at byte %zu of %s (%zu bytes), which %s %s with no barrier between",
         state.kernel, who(state.epoch, state.thread, now, sizeof now), verb(access), size, offset, r.name,
         r.size_bytes, who(at, thread, then, sizeof then), earlier);
}

__attribute__((noinline, cold)) void tell_uninitialised(const Region &r, size_t offset, size_t size, uintptr_t pc)
{
    char now[96];
    fail(kLaunchFailure, true);
    tell("uninitialised", pc, "kernel %s: %s reads %zu bytes at byte %zu of %s (%zu bytes), which its block has not written",
         state.kernel, who(state.epoch, state.thread, now, sizeof now), size, offset, r.name, r.size_bytes);
}

[[noreturn]] __attribute__((noinline, cold)) void tell_bounds(uintptr_t address, size_t size, Access access,
                                                              uintptr_t pc)
{
    char now[96], place[160] = "memory that is not the device's";
    constexpr uintptr_t kNear = 2048;
    who(state.epoch, state.thread, now, sizeof now);
    // Of the arrays near by, the one that it lies behind, or in front of.
    for (uintptr_t distance = 0; distance <= kNear; distance += 4) {
        const Region *before = find(address - distance), *after = find(address + distance);
        const Region *region = before ? before : after;
        if (!region)
            continue;
        snprintf(place, sizeof place, "byte %td of %s (%zu bytes)", (ptrdiff_t)(address - region->begin), region->name,
                 region->size_bytes);
        break;
    }
    tell("bounds", pc, "kernel %s: %s %s %zu bytes at %s", state.kernel, now, verb(access), size, place);
    fail(kIllegalAddress, true);
    abandon();
}

__attribute__((noinline, cold)) void tell_constant(const Region &r, uintptr_t pc)
{
    tell("bounds", pc, "kernel %s writes constant memory: %s", state.kernel, r.name);
    fail(kIllegalAddress, true);
    abandon();
}

// Makes the cells so small that an access is whole cells. What was so far, was of all parts of a cell.
__attribute__((noinline, cold)) void refine(Region &r, size_t multiple)
{
    size_t cell = multiple & -multiple, old = r.mask + 1;
    cell = cell > 8 ? 8 : cell;
    size_t count = r.size_bytes / cell + 1;
    auto *cells = static_cast<Cell *>(calloc(count, sizeof(Cell)));
    AtomicCell *atomics = nullptr;
    if (!cells)
        abort();
    if (r.atomics && !(atomics = static_cast<AtomicCell *>(calloc(count, sizeof(AtomicCell)))))
        abort();
    for (size_t k = 0; r.cells && k < count; ++k) {
        cells[k] = r.cells[k * cell / old];
        if (atomics)
            atomics[k] = r.atomics[k * cell / old];
    }
    free(r.cells);
    free(r.atomics);
    r.cells = cells;
    r.atomics = atomics;
    r.mask = cell - 1;
    r.shift = __builtin_ctzl(cell);
}

inline bool of_warp(unsigned thread)
{
    return thread < kMostThreads ? thread / kWarp == state.warp : thread == kSeveralOfWarp + state.warp;
}

// Whether nothing orders an earlier access before the present one; `since` begins what can race at all.
inline bool unordered(uint32_t at, unsigned thread, uint32_t since)
{
    if (at < since)
        return false;
    if (at < state.block_first)
        return true;
    if (at < state.interval_first || thread == state.thread)
        return false;
    return !of_warp(thread) || at >= state.warp_first[state.warp];
}

// Adds this thread to those that have accessed since the barrier.
inline uint16_t joined(uint32_t at, unsigned thread)
{
    if (at < state.interval_first || thread == state.thread)
        return state.thread;
    if (of_warp(thread))
        return at < state.warp_first[state.warp] ? state.thread : kSeveralOfWarp + state.warp;
    return kSeveral;
}

__attribute__((noinline)) void visit_atomics(Region &r, size_t k, Access access, uint32_t since, size_t offset,
                                             size_t size, uintptr_t pc)
{
    AtomicCell &cell = r.atomics[k];
    if (access == kAtomic) {
        if (cell.first < since)
            cell.first = state.epoch;
        cell.thread = joined(cell.last, cell.thread);
        cell.last = state.epoch;
    } else if (cell.first >= since && cell.first < state.block_first)
        tell_race(r, offset, size, access, pc, "updated", cell.first, kSeveral);
    else if (unordered(cell.last, cell.thread, since))
        tell_race(r, offset, size, access, pc, "updated", cell.last, cell.thread);
}

inline __attribute__((always_inline)) void visit(Region &r, size_t k, Access access, size_t offset, size_t size,
                                                 uintptr_t pc)
{
    Cell &cell = r.cells[k];
    const uint32_t since = r.space == kShared ? state.block_first : state.launch_first;
    if (unordered(cell.written, cell.writer, since))
        tell_race(r, offset, size, access, pc, "wrote", cell.written, cell.writer);
    if (access == kRead) {
        if (r.space == kShared && cell.written < since && (!r.atomics || r.atomics[k].last < since))
            tell_uninitialised(r, offset, size, pc);
        if (cell.first_read < since)
            cell.first_read = state.epoch;
        cell.reader = joined(cell.last_read, cell.reader);
        cell.last_read = state.epoch;
    } else {
        if (cell.first_read >= since && cell.first_read < state.block_first)
            tell_race(r, offset, size, access, pc, "read", cell.first_read, kSeveral);
        else if (unordered(cell.last_read, cell.reader, since))
            tell_race(r, offset, size, access, pc, "read", cell.last_read, cell.reader);
        if (access == kWrite) {
            cell.written = state.epoch;
            cell.writer = state.thread;
        }
    }
    if (r.atomics)
        visit_atomics(r, k, access, since, offset, size, pc);
}

__attribute__((noinline)) void touch_host(uintptr_t address, size_t size, Access access, uintptr_t pc)
{
    Region *region = find(address);
    if (!region || region->space != kGlobal)
        return;
    tell("bounds", pc, "the host %s %zu bytes at byte %zu of %s: device memory", verb(access), size,
         address - region->begin, region->name);
    fail(kIllegalAddress, true);
}

// The array that the bytes lie in; the launch ends where they lie in none.
inline __attribute__((always_inline)) Region &region_of(uintptr_t address, size_t size, Access access, uintptr_t pc)
{
    Region *&last = last_regions[(pc ^ pc >> 8) % kSites];
    if (!last || address - last->begin >= last->size_bytes) {
        Region *found = find(address);
        if (!found)
            tell_bounds(address, size, access, pc);
        last = found;
    }
    if (size > last->size_bytes - (address - last->begin))
        tell_bounds(address, size, access, pc);
    return *last;
}

inline __attribute__((always_inline)) void touch(uintptr_t address, size_t size, Access access, uintptr_t pc)
{
    if (!state.device)
        return touch_host(address, size, access, pc);
    if (address - state.stack < kStackBytes)
        return;
    Region &r = region_of(address, size, access, pc);
    size_t offset = address - r.begin;
    if (r.space == kConstant) {
        if (access != kRead)
            tell_constant(r, pc);
        return;
    }
#ifdef POLYC_SHIM_COUNT
    return count_access(r, address, size, access, pc);
#endif
    if (((offset | size) & r.mask) != 0)
        refine(r, offset | size);
    if (access == kAtomic && !r.atomics)
        r.atomics = static_cast<AtomicCell *>(calloc(r.size_bytes / (r.mask + 1) + 1, sizeof(AtomicCell)));
    for (size_t k = offset >> r.shift, end = (offset + size) >> r.shift; k < end; ++k)
        visit(r, k, access, offset, size, pc);
}

__attribute__((noinline)) void touch_range(uintptr_t address, size_t size, Access access, uintptr_t pc)
{
    if (size > 0)
        touch(address, size, access, pc);
}

}  // namespace

#ifdef POLYC_SHIM_COUNT
const Region &check_bounds(uintptr_t address, size_t size, Access access, uintptr_t pc)
{
    return region_of(address, size, access, pc);
}
#endif

}  // namespace shim

using namespace shim;

// The usual sizes have copies of their own of the check, for speed.
#define ACCESS(NAME, SIZE, KIND) \
    HOOK void NAME(uintptr_t address) { touch(address, SIZE, KIND, PC); }
#define OTHER_ACCESS(NAME, SIZE, KIND) \
    HOOK void NAME(uintptr_t address) { touch_range(address, SIZE, KIND, PC); }
#define ACCESSES(PLAIN, SIZE)                                       \
    PLAIN(__tsan_read##SIZE, SIZE, kRead)                           \
    PLAIN(__tsan_write##SIZE, SIZE, kWrite)                         \
    OTHER_ACCESS(__tsan_unaligned_read##SIZE, SIZE, kRead)          \
    OTHER_ACCESS(__tsan_unaligned_write##SIZE, SIZE, kWrite)        \
    OTHER_ACCESS(__tsan_volatile_read##SIZE, SIZE, kRead)           \
    OTHER_ACCESS(__tsan_volatile_write##SIZE, SIZE, kWrite)
ACCESSES(OTHER_ACCESS, 1)
ACCESSES(OTHER_ACCESS, 2)
ACCESSES(ACCESS, 4)
ACCESSES(ACCESS, 8)
ACCESSES(OTHER_ACCESS, 16)
HOOK void __tsan_read_range(uintptr_t address, size_t size) { touch_range(address, size, kRead, PC); }
HOOK void __tsan_write_range(uintptr_t address, size_t size) { touch_range(address, size, kWrite, PC); }
HOOK void polyc_shim_atomic(uintptr_t address, size_t size) { touch_range(address, size, kAtomic, PC); }
HOOK void __tsan_init(void) {}
#ifndef POLYC_SHIM_COUNT
HOOK void __tsan_func_entry(void *) {}
HOOK void __tsan_func_exit(void) {}
#endif
HOOK void __tsan_vptr_update(void **, void *) {}
HOOK void __tsan_vptr_read(void **) {}
HOOK void __tsan_atomic_thread_fence(int) {}
HOOK void __tsan_atomic_signal_fence(int) {}

// What -fsanitize=alignment,bounds calls: what an address alone does not show.
HOOK void __ubsan_handle_type_mismatch_v1(const void *, uintptr_t address)
{
    fail(kLaunchFailure, true);
    tell("misaligned", PC, "kernel %s: address ending in %#zx", state.device ? state.kernel : "(host)",
         (size_t)(address & 0xff));
}
HOOK void __ubsan_handle_out_of_bounds(const void *, size_t index)
{
    fail(kLaunchFailure, true);
    tell("index", PC, "kernel %s: index %td of an array's row is outside of it", state.device ? state.kernel : "(host)",
         (ptrdiff_t)index);
}
