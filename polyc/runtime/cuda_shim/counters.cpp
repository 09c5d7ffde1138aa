// What a profiler counts, of each place of a kernel: a part of the shim only where POLYC_SHIM_COUNT is defined.
//
// The compiler's calls at each access and at the start of each basic block write a trace for each lane. A warp's 32
// traces are merged as the hardware runs them: of the places at which lanes stand, the innermost call and then the
// lowest address goes first, for all lanes that stand there ("min-PC"; Collange 2011, "Stack-less SIMT reconvergence at
// low cost"). Blocks lie in the order of the source (-fno-reorder-blocks), so that lanes wait for each other behind
// branches and loops. What lanes do at one place in one such step is one request.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#define PC reinterpret_cast<uintptr_t>(__builtin_return_address(0))

namespace shim {

namespace {

constexpr unsigned kRoom = 1024, kSectorBytes = 32, kBanks = 32, kBankBytes = 4, kMostPending = 512;
constexpr unsigned kDeepest = 0xffff;

enum Kind : uint8_t { kBlock, kLoad, kStore, kUpdate, kCopyLoad, kCopyStore };
const char *const kind_names[] = {"block", "load", "store", "update", "copy load", "copy store"};

// One access of a lane, or its arrival in a basic block. Places are twice the return address in the library, and one
// more for shared memory: a copy from global to shared memory is two requests, in this order.
struct Event {
    uint64_t address;
    uint32_t place;
    uint16_t outside;  // kDeepest less the depth of calls
    uint8_t size;
    Kind kind;
    uint64_t key() const { return (uint64_t)outside << 32 | place; }
};

struct Lane {
    Event events[kRoom];
    unsigned next, count;
    uint64_t last_step;  // its last basic block, and when it came there
    uint32_t last_place;
};

struct Request {
    uint32_t place, mask;
    uint8_t size;
    Kind kind;
    bool gone;  // part of a wider one
    uint64_t addresses[kWarp];
};

// Counts of a place, over all blocks that the run stands for.
struct Site {
    uint32_t place;
    Kind kind;
    bool used;
    uint64_t requests, lanes, divergent, splits;
    uint64_t sectors, sectors_least, wavefronts, wavefronts_least;
};

struct Totals {
    uint64_t barriers, tensor_half, tensor_tf32;
    uint64_t compulsory[2], of_rows[2], of_blocks[2];  // distinct sectors: loads, stores
};

// Who has touched a sector: bits of a byte, the upper half for stores.
enum Mark : uint8_t { kOwn = 1, kBefore = 2, kEarlier = 4 };

struct Marks {
    uint8_t *bytes;
    size_t count;
    uint32_t *own, *before;  // the sectors with these marks
    size_t own_count, before_count, capacity;
};

Lane lanes[kWarp];
uint16_t depths[kMostThreads];
Request pending[kMostPending];
unsigned pending_count;
uint32_t warp_lanes;  // threads that the warp has
uint64_t step;
Site *sites;
size_t site_count;
Totals totals;
uint64_t weight;
bool counting, marking, marking_before;
bool aligned;  // the kernel says where its arrays begin
bool written;  // a launch, to the file
uintptr_t base;

struct Touched {
    uintptr_t begin;
    Marks marks;
};
Touched *touched;  // the arrays that the launch has touched
unsigned touched_count, last_touched;

Site &site_of(uint32_t place, Kind kind)
{
    if (place >= site_count) {
        size_t count = place + 4096;
        sites = static_cast<Site *>(realloc(sites, count * sizeof(Site)));
        if (!sites)
            abort();
        memset(static_cast<void *>(sites + site_count), 0, (count - site_count) * sizeof(Site));
        site_count = count;
    }
    Site &site = sites[place];
    site.used = true;
    site.place = place;
    site.kind = kind;
    return site;
}

// --- sectors ---------------------------------------------------------------------------------------------------------

Marks &marks_of(uintptr_t address, uintptr_t *begin)
{
    for (unsigned tried = 0; tried < touched_count; ++tried, last_touched = (last_touched + 1) % touched_count) {
        Touched &one = touched[last_touched];
        if (address - one.begin < one.marks.count * kSectorBytes) {
            *begin = one.begin;
            return one.marks;
        }
    }
    const Region *region = find(address);
    touched = static_cast<Touched *>(realloc(touched, (touched_count + 1) * sizeof(Touched)));
    if (!touched || !region)
        abort();
    Touched &made = touched[last_touched = touched_count++];
    made = Touched{region->begin, Marks{}};
    made.marks.count = (region->size_bytes + kSectorBytes - 1) / kSectorBytes;
    made.marks.bytes = static_cast<uint8_t *>(calloc(made.marks.count, 1));
    made.marks.own = static_cast<uint32_t *>(malloc(2 * made.marks.count * sizeof(uint32_t)));
    made.marks.before = static_cast<uint32_t *>(malloc(2 * made.marks.count * sizeof(uint32_t)));
    if (!made.marks.bytes || !made.marks.own || !made.marks.before)
        abort();
    *begin = made.begin;
    return made.marks;
}

// Allocations begin at multiples of 256 bytes: their sectors are the device's.
void touch_sector(uintptr_t address, bool stores)
{
    uintptr_t begin;
    Marks &marks = marks_of(address, &begin);
    const auto at = static_cast<uint32_t>((address - begin) / kSectorBytes);
    const unsigned shift = stores ? 4 : 0;
    uint8_t &mark = marks.bytes[at];
    const unsigned found = mark >> shift;
    if (marking) {
        mark |= (marking_before ? kBefore | kEarlier : kEarlier) << shift;
        return;
    }
    if (found & kOwn)
        return;
    mark |= kOwn << shift;
    marks.own[marks.own_count++] = at << 1 | stores;
    totals.of_blocks[stores] += weight;
    totals.of_rows[stores] += found & kBefore ? 0 : weight;
    totals.compulsory[stores] += found & kEarlier ? 0 : weight;
}

// Ends a block of a whole run: what it has touched, the next one finds touched before.
void hand_on_marks()
{
    for (unsigned k = 0; k < touched_count; ++k) {
        Marks &marks = touched[k].marks;
        for (size_t i = 0; i < marks.before_count; ++i)
            marks.bytes[marks.before[i] >> 1] &= ~(kBefore << (marks.before[i] & 1 ? 4 : 0));
        for (size_t i = 0; i < marks.own_count; ++i) {
            const unsigned shift = marks.own[i] & 1 ? 4 : 0;
            uint8_t &mark = marks.bytes[marks.own[i] >> 1];
            mark = (mark & ~(kOwn << shift)) | (kBefore | kEarlier) << shift;
        }
        uint32_t *free_one = marks.before;
        marks.before = marks.own;
        marks.before_count = marks.own_count;
        marks.own = free_one;
        marks.own_count = 0;
    }
}

void clear_marks()
{
    for (unsigned k = 0; k < touched_count; ++k) {
        Marks &marks = touched[k].marks;
        memset(marks.bytes, 0, marks.count);
        marks.own_count = marks.before_count = 0;
    }
}

void free_marks()
{
    for (unsigned k = 0; k < touched_count; ++k) {
        free(touched[k].marks.bytes);
        free(touched[k].marks.own);
        free(touched[k].marks.before);
    }
    touched_count = last_touched = 0;
}

// --- requests --------------------------------------------------------------------------------------------------------

// Sectors of a warp's request, and how few would hold the bytes.
void count_sectors(const Request &request, Site &site)
{
    const bool stores = request.kind == kStore || request.kind == kUpdate;
    uint64_t sectors[kWarp];
    uint32_t bytes[kWarp];
    unsigned count = 0, last = 0;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if (!(request.mask >> lane & 1))
            continue;
        // An access is aligned to its size, so that it lies in one sector.
        const uint64_t sector = request.addresses[lane] / kSectorBytes;
        const uint32_t own = ((1u << request.size) - 1) << request.addresses[lane] % kSectorBytes;
        if (count == 0 || sectors[last] != sector) {
            for (last = 0; last < count && sectors[last] != sector; ++last)
                ;
            if (last == count) {
                sectors[count] = sector;
                bytes[count++] = 0;
                touch_sector(request.addresses[lane], stores);
            }
        }
        bytes[last] |= own;
    }
    unsigned distinct = 0;
    for (unsigned k = 0; k < count; ++k)
        distinct += __builtin_popcount(bytes[k]);
    site.sectors += weight * count;
    site.sectors_least += weight * ((distinct + kSectorBytes - 1) / kSectorBytes);
}

// The different words of each bank that some lanes want.
struct Banks {
    uint64_t words[kBanks][kWarp * 4];
    uint8_t counts[kBanks];
    unsigned most, distinct;

    void clear() { memset(counts, 0, sizeof counts), most = distinct = 0; }
    void add(uint64_t word)
    {
        const unsigned bank = word % kBanks;
        for (unsigned k = 0; k < counts[bank]; ++k)
            if (words[bank][k] == word)
                return;
        words[bank][counts[bank]++] = word;
        ++distinct;
        if (counts[bank] > most)
            most = counts[bank];
    }
    void add(const Request &request, unsigned first, unsigned end)
    {
        for (unsigned lane = first; lane < end; ++lane)
            if (request.mask >> lane & 1)
                for (unsigned at = 0; at < request.size; at += kBankBytes)
                    add((request.addresses[lane] + at) / kBankBytes);
    }
};

// Whether lanes next to each other, or next but one, ask for the same place, all of them.
bool in_pairs(const Request &request, unsigned apart)
{
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        const unsigned other = lane ^ apart;
        const bool both = request.mask >> lane & request.mask >> other & 1;
        if (both && request.addresses[lane] != request.addresses[other])
            return false;
    }
    return true;
}

// A bank gives one word in a wavefront, to all lanes that want it. Loads of 8 bytes are served by halves of the warp,
// unless all lanes go in pairs; those of 16 bytes by the whole warp, in two wavefronts for each word of a bank. So says
// Nsight Compute of an H200. Stores are served by halves and quarters of the warp; two of these share their wavefronts
// where both together take no more than one of them.
void count_wavefronts(const Request &request, Site &site)
{
    static Banks all, joined, one;
    const bool loads = request.kind == kLoad;
    const bool whole = loads && (request.size == 16 || in_pairs(request, 1) || in_pairs(request, 2));
    const unsigned times = loads && request.size == 16 ? 2 : 1;
    const unsigned phases = whole || request.size < 8 ? 1 : loads || request.size == 8 ? 2 : 4;
    const unsigned lanes_each = kWarp / phases;
    unsigned wavefronts = 0, begin = 0, taken = 0;
    all.clear();
    all.add(request, 0, kWarp);
    for (unsigned phase = 0; phase < phases; ++phase) {
        const unsigned end = (phase + 1) * lanes_each;
        one.clear();
        one.add(request, phase * lanes_each, end);
        joined.clear();
        joined.add(request, begin, end);
        if (loads || joined.most > (taken > one.most ? taken : one.most)) {
            wavefronts += taken;
            begin = phase * lanes_each;
            taken = one.most;
        } else {
            taken = joined.most;
        }
    }
    site.wavefronts += weight * times * (wavefronts + taken);
    site.wavefronts_least += weight * times * ((all.distinct + kBanks - 1) / kBanks);
}

bool follows(const Request &low, const Request &high)
{
    if (high.gone || high.kind != low.kind || high.size != low.size || high.mask != low.mask)
        return false;
    for (unsigned lane = 0; lane < kWarp; ++lane)
        if ((low.mask >> lane & 1) && (high.addresses[lane] != low.addresses[lane] + low.size ||
                                       low.addresses[lane] % (2 * low.size) != 0))
            return false;
    return true;
}

bool is_shared(const Request &request) { return request.place & 1; }

// Neighbours that a basic block loads, or stores, become one access of up to 16 bytes, as nvcc makes them where it knows
// how arrays are aligned: those in shared memory, and others of which the kernel says it.
void widen(unsigned first, unsigned end, bool shared, unsigned least)
{
    for (unsigned size = least; size <= 8; size *= 2)
        for (unsigned k = first; k < end; ++k) {
            Request &low = pending[k];
            if (low.gone || low.size != size || is_shared(low) != shared)
                continue;
            for (unsigned other = first; other < end; ++other)
                if (other != k && is_shared(pending[other]) == shared && follows(low, pending[other])) {
                    low.size *= 2;
                    pending[other].gone = true;
                    break;
                }
        }
}

void flush()
{
    // Arrays that a kernel aligns do not overlap: loads are moved before stores.
    if (aligned)
        widen(0, pending_count, false, 1);
    for (unsigned first = 0, end; first < pending_count; first = end) {
        end = first + 1;
        if (!is_shared(pending[first]))
            continue;
        while (end < pending_count && (!is_shared(pending[end]) || pending[end].kind == pending[first].kind))
            ++end;
        // Between stores to shared memory and loads of it nothing is moved.
        if (pending[first].kind == kLoad || pending[first].kind == kStore)
            widen(first, end, true, 4);
    }
    for (unsigned k = 0; k < pending_count; ++k) {
        const Request &request = pending[k];
        if (request.gone)
            continue;
        Site &site = site_of(request.place, request.kind);
        site.requests += weight;
        site.lanes += weight * __builtin_popcount(request.mask);
        site.divergent += request.mask != warp_lanes ? weight : 0;
        if (is_shared(request))
            count_wavefronts(request, site);
        else
            count_sectors(request, site);
    }
    pending_count = 0;
}

// --- merging ---------------------------------------------------------------------------------------------------------

// Counts a branch that splits lanes which have come to it together: the group goes on, and others stay behind.
void count_split(uint32_t group)
{
    const Lane &one = lanes[__builtin_ctz(group)];
    const uint64_t together = one.last_step;
    bool split = false;
    for (unsigned lane = 0; together && lane < kWarp; ++lane)
        if (!(group >> lane & 1) && lanes[lane].last_step == together) {
            split = true;
            lanes[lane].last_step = 0;
        }
    if (split)
        site_of(one.last_place, kBlock).splits += weight;
}

void take(uint32_t group, const Event &event)
{
    ++step;
    if (event.kind == kBlock) {
        flush();
        count_split(group);
        Site &site = site_of(event.place, kBlock);
        site.requests += weight;
        site.lanes += weight * __builtin_popcount(group);
    } else if (pending_count == kMostPending) {
        flush();
    }
    Request *request = event.kind == kBlock ? nullptr : &pending[pending_count++];
    if (request)
        *request = Request{event.place, group, event.size, event.kind, false, {}};
    for (uint32_t left = group; left; left &= left - 1) {
        const unsigned lane = __builtin_ctz(left);
        Lane &own = lanes[lane];
        if (request)
            request->addresses[lane] = own.events[own.next].address;
        else
            own.last_step = step, own.last_place = event.place;
        if (++own.next == own.count)
            own.next = own.count = 0;
    }
}

void add(uintptr_t address, size_t size, Kind kind, uintptr_t pc, bool shared)
{
    Lane &lane = lanes[state.thread % kWarp];
    if (lane.count == kRoom)
        pause_thread();
    const auto outside = static_cast<uint16_t>(kDeepest - depths[state.thread]);
    lane.events[lane.count++] = Event{address, static_cast<uint32_t>(pc - base) << 1 | shared, outside,
                                      static_cast<uint8_t>(size), kind};
}

}  // namespace

bool has_room(unsigned lane) { return lanes[lane].count < kRoom; }

// Takes steps of a warp until one of the lanes that wait for room has it.
void merge_warp(uint32_t waiting)
{
    for (;;) {
        uint64_t least = ~0ull;
        uint32_t group = 0;
        for (unsigned lane = 0; lane < kWarp; ++lane) {
            const Lane &own = lanes[lane];
            if (own.count == 0) {
                if (waiting >> lane & 1)
                    return;
                continue;
            }
            const Event &event = own.events[own.next];
            // Parts of one place that differ in size are different requests.
            const uint64_t key = event.key() << 8 | event.size;
            if (key < least)
                least = key, group = 0;
            group |= (uint32_t)(key == least) << lane;
        }
        if (!group)
            return flush();
        const unsigned one = __builtin_ctz(group);
        take(group, Event(lanes[one].events[lanes[one].next]));
    }
}

void begin_warp(uint32_t existing)
{
    warp_lanes = existing;
    for (Lane &lane : lanes)
        lane.last_step = 0;
}

void count_access(const Region &region, uintptr_t address, size_t size, Access access, uintptr_t pc)
{
    const bool shared = region.space == kShared;
    if (marking) {
        if (!shared)
            touch_sector(address, access != kRead);
        return;
    }
    if (!counting)
        return;
    const Kind kind = access == kRead ? kLoad : access == kWrite ? kStore : kUpdate;
    while (size > 0) {  // structs, by pieces that a lane can load
        size_t piece = (address | 16) & -(address | 16);
        while (piece > size)
            piece /= 2;
        add(address, piece, kind, pc, shared);
        address += piece;
        size -= piece;
    }
}

void count_barrier() { totals.barriers += counting ? weight : 0; }
void count_tensor(unsigned operations, bool half)
{
    if (counting)
        (half ? totals.tensor_half : totals.tensor_tf32) += weight * operations;
}

// --- launches --------------------------------------------------------------------------------------------------------

namespace {

struct Pick {
    unsigned at, weight;
};

struct Axis {
    unsigned extent, count;
    Pick picks[1024];

    // The first, the last, and the middle ones of equal parts of what lies between.
    void choose(unsigned most)
    {
        count = extent <= most ? extent : most;
        for (unsigned k = 0; k < count; ++k)
            picks[k] = {k, 1};
        if (count == extent)
            return;
        const unsigned inner = extent - 2, parts = count - 2;
        for (unsigned k = 0; k < parts; ++k) {
            const auto first = static_cast<unsigned>((uint64_t)inner * k / parts);
            const auto end = static_cast<unsigned>((uint64_t)inner * (k + 1) / parts);
            picks[k + 1] = {1 + first + (end - first) / 2, end - first};
        }
        picks[count - 1] = {extent - 1, 1};
    }
};

Axis axes[3];

// At most so many blocks, but three along each axis.
void choose_blocks(Index grid, uint64_t most)
{
    const unsigned extents[3] = {grid.x, grid.y, grid.z};
    unsigned wanted[3];
    for (unsigned k = 0; k < 3; ++k) {
        axes[k].extent = extents[k];
        wanted[k] = extents[k] < 3 ? extents[k] : 3;
    }
    for (;;) {
        unsigned longest = 3;
        for (unsigned k = 0; k < 3; ++k)
            if (wanted[k] < extents[k] && wanted[k] < 1024 &&
                (longest == 3 || extents[k] / wanted[k] > extents[longest] / wanted[longest]))
                longest = k;
        if (longest == 3)
            break;
        uint64_t blocks = 1;
        for (unsigned k = 0; k < 3; ++k)
            blocks *= wanted[k] + (k == longest);
        if (blocks > most)
            break;
        ++wanted[longest];
    }
    for (unsigned k = 0; k < 3; ++k)
        axes[k].choose(wanted[k]);
}

bool count_block(Index index, uint64_t of_weight, bool (*run)(Index))
{
    weight = of_weight;
    counting = true;
    const bool well = run(index);
    counting = false;
    return well;
}

bool mark_block(Index index, bool before, bool (*run)(Index))
{
    marking = true;
    marking_before = before;
    const bool well = run(index);
    marking = false;
    return well;
}

// Marks what the neighbours touch that come before a block in the order of the launch.
bool mark_neighbours(Index own, Index grid, bool (*run)(Index))
{
    for (int k = 0; k < 13; ++k) {
        const int x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
        const bool inside = own.x + x < grid.x && own.y + y < grid.y && own.z + z < grid.z;  // -1 is no index
        if (inside && !mark_block({own.x + x, own.y + y, own.z + z}, k == 12, run))
            return false;
    }
    return true;
}

// Of a block that stands for others, only what its neighbours before it have not touched is new: blocks share data with
// those next to them, or with all along an axis.
bool run_sampled(Index grid, bool (*run)(Index), uint64_t *count)
{
    for (unsigned z = 0; z < axes[2].count; ++z)
        for (unsigned y = 0; y < axes[1].count; ++y)
            for (unsigned x = 0; x < axes[0].count; ++x) {
                const Pick p[3] = {axes[0].picks[x], axes[1].picks[y], axes[2].picks[z]};
                const Index own{p[0].at, p[1].at, p[2].at};
                clear_marks();
                if (!mark_neighbours(own, grid, run) ||
                    !count_block(own, (uint64_t)p[0].weight * p[1].weight * p[2].weight, run))
                    return false;
                ++*count;
            }
    return true;
}

bool run_whole(Index grid, bool (*run)(Index))
{
    for (unsigned z = 0; z < grid.z; ++z)
        for (unsigned y = 0; y < grid.y; ++y)
            for (unsigned x = 0; x < grid.x; ++x) {
                if (!count_block({x, y, z}, 1, run))
                    return false;
                hand_on_marks();
            }
    return true;
}

void write_site(FILE *file, const Site &s, bool first)
{
    fprintf(file, "%s{\"place\": %u, \"kind\": \"%s\", \"shared\": %s, \"requests\": %llu, \"lanes\": %llu, "
            "\"divergent\": %llu, \"splits\": %llu, \"sectors\": %llu, \"sectors_least\": %llu, "
            "\"wavefronts\": %llu, \"wavefronts_least\": %llu}",
            first ? "" : ", ", s.place >> 1, kind_names[s.kind], s.place & 1 ? "true" : "false",
            (unsigned long long)s.requests, (unsigned long long)s.lanes, (unsigned long long)s.divergent,
            (unsigned long long)s.splits, (unsigned long long)s.sectors, (unsigned long long)s.sectors_least,
            (unsigned long long)s.wavefronts, (unsigned long long)s.wavefronts_least);
}

// What tells launches of one kernel from each other.
struct Shape {
    const char *kernel;
    Index grid, block;
    size_t shared_bytes;
    uint64_t launches;
};
Shape *shapes;
unsigned shape_count;

// How many launches there were of this shape before.
uint64_t number_of(const char *kernel, Index grid, Index block, size_t shared_bytes)
{
    const Shape wanted{kernel, grid, block, shared_bytes, 0};
    const auto same = [](Index a, Index b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
    for (unsigned k = 0; k < shape_count; ++k)
        if (!strcmp(shapes[k].kernel, kernel) && same(shapes[k].grid, grid) && same(shapes[k].block, block) &&
            shapes[k].shared_bytes == shared_bytes)
            return ++shapes[k].launches;
    shapes = static_cast<Shape *>(realloc(shapes, (shape_count + 1) * sizeof(Shape)));
    if (!shapes)
        abort();
    shapes[shape_count++] = wanted;
    return 0;
}

// Of many launches some stand for others: of the first 32 each, then one in each sixteenth of a power of two. Which
// one is not the same in all of them: launches may differ by alignment, in steps that are powers of two, too.
struct Stratum {
    uint64_t first, counted;
};

Stratum stratum_of(uint64_t number)
{
    unsigned halvings = 0;
    while (number >> halvings >= 32)
        ++halvings;
    const uint64_t first = number >> halvings << halvings, length = 1ull << halvings;
    return {first, first + (first * 0x9e3779b97f4a7c15u >> 32) % length};
}

FILE *begin_launch(const char *kernel, Index grid, Index block, size_t shared_bytes, uint64_t stratum)
{
    char name[4200];
    snprintf(name, sizeof name, "%s.profile", library_file());
    FILE *file = fopen(name, written ? "a" : "w");
    written = true;
    if (!file)
        abort();
    fprintf(file, "{\"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared_bytes\": %zu, "
            "\"stratum\": %llu", kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes,
            (unsigned long long)stratum);
    return file;
}

void write_skipped(const char *kernel, Index grid, Index block, size_t shared_bytes, uint64_t stratum)
{
    FILE *file = begin_launch(kernel, grid, block, shared_bytes, stratum);
    fprintf(file, "}\n");
    fclose(file);
}

void write_launch(const char *kernel, Index grid, Index block, size_t shared_bytes, uint64_t stratum, uint64_t counted)
{
    FILE *file = begin_launch(kernel, grid, block, shared_bytes, stratum);
    fprintf(file, ", \"blocks_run\": %llu, \"barriers\": %llu, \"tensor_operations\": [%llu, %llu], ",
            (unsigned long long)counted, (unsigned long long)totals.barriers, (unsigned long long)totals.tensor_half,
            (unsigned long long)totals.tensor_tf32);
    const struct { const char *name; const uint64_t *counts; } kinds[] = {
        {"compulsory", totals.compulsory}, {"of_rows", totals.of_rows}, {"of_blocks", totals.of_blocks}};
    for (const auto &kind : kinds)
        fprintf(file, "\"%s\": [%llu, %llu], ", kind.name, (unsigned long long)kind.counts[0],
                (unsigned long long)kind.counts[1]);
    fprintf(file, "\"sites\": [");
    bool first = true;
    for (size_t k = 0; k < site_count; ++k)
        if (sites[k].used && sites[k].requests) {
            write_site(file, sites[k], first);
            first = false;
        }
    fprintf(file, "]}\n");
    fclose(file);
}

}  // namespace

bool count_launch(const char *kernel, Index grid, Index block, size_t shared_bytes, bool (*run)(Index))
{
    const char *given = getenv("POLYC_SHIM_BLOCKS");
    const uint64_t most = given ? strtoull(given, nullptr, 10) : 0;
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    const uint64_t number = number_of(kernel, grid, block, shared_bytes);
    const Stratum stratum = most ? stratum_of(number) : Stratum{number, number};
    if (stratum.counted != number) {
        write_skipped(kernel, grid, block, shared_bytes, stratum.first);
        return true;
    }
    base = library_begin();
    totals = Totals{};
    if (sites)
        memset(static_cast<void *>(sites), 0, site_count * sizeof(Site));
    memset(depths, 0, sizeof depths);
    for (Lane &lane : lanes)
        lane.next = lane.count = 0;
    pending_count = 0;
    aligned = false;
    free_marks();
    uint64_t counted = blocks;
    bool well;
    if (most == 0 || blocks <= most) {
        well = run_whole(grid, run);
    } else {
        counted = 0;
        choose_blocks(grid, most);
        well = run_sampled(grid, run, &counted);
    }
    write_launch(kernel, grid, block, shared_bytes, stratum.first, counted);
    return well;
}

void forget_counts()
{
    written = false;
    shape_count = 0;
}

}  // namespace shim

using namespace shim;

extern "C" void __sanitizer_cov_trace_pc(void)
{
    if (state.device && counting)
        add(0, 0, kBlock, PC, false);
}

extern "C" void __tsan_func_entry(void *) { depths[state.thread] += state.device; }
extern "C" void __tsan_func_exit(void) { depths[state.thread] -= state.device; }

// cp.async: where nothing is to be read, shared memory gets zeros.
extern "C" void *polyc_shim_aligned(const void *address)
{
    aligned = true;
    return const_cast<void *>(address);
}

extern "C" void polyc_shim_copy(void *to, const void *from, size_t size, bool zero)
{
    const auto target = reinterpret_cast<uintptr_t>(to), source = reinterpret_cast<uintptr_t>(from);
    if (!zero)
        check_bounds(source, size, kRead, PC);
    check_bounds(target, size, kWrite, PC);
    if (marking && !zero)
        touch_sector(source, false);
    if (counting) {
        if (!zero)
            add(source, size, kCopyLoad, PC, false);
        add(target, size, kCopyStore, PC, true);
    }
    if (zero)
        memset(to, 0, size);
    else
        memcpy(to, from, size);
}
