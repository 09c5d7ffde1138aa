// Device memory, the faults that were found, and the part of CUDA's API that a host program calls.
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/cuda_runtime.h"
#include "shim.h"

namespace shim {

namespace {

constexpr unsigned kMostRegions = 4096, kMostFaults = 10;
constexpr size_t kRedZoneBytes = 4096;

Region *regions[kMostRegions];  // by address
unsigned region_count, allocation_count;
Region dynamic_region;
alignas(256) char dynamic_memory[kMostSharedBytes];

char report[16384];
size_t report_length;
unsigned fault_count;
uintptr_t fault_places[kMostFaults];
const char *fault_kinds[kMostFaults];
char report_file[4096], own_file[4080];
uintptr_t library_base;

int last_error, fatal_error;

bool insert(Region *region)
{
    if (region_count == kMostRegions)
        return false;
    unsigned at = region_count++;
    for (; at > 0 && regions[at - 1]->begin > region->begin; --at)
        regions[at] = regions[at - 1];
    regions[at] = region;
    return true;
}

void remove(Region *region)
{
    unsigned at = 0;
    while (regions[at] != region)
        ++at;
    memmove(regions + at, regions + at + 1, (--region_count - at) * sizeof *regions);
}

// "kernel(int)::tile" -> owner "kernel", name "tile"
void split_name(const char *mangled, Region *region)
{
    int status = 0;
    char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    const char *whole = text ? text : mangled, *name = whole;
    for (const char *next = whole; (next = strstr(next, "::")) != nullptr; name = next += 2)
        ;
    size_t length = name == whole ? 0 : strcspn(whole, "(<:");
    snprintf(region->owner, sizeof region->owner, "%.*s", (int)length, whole);
    snprintf(region->name, sizeof region->name, "%s", name);
    free(text);
}

// The variables of the two sections, from the library's own symbols.
void add_variables(const char *file, const char *base)
{
    const auto *header = reinterpret_cast<const Elf64_Ehdr *>(file);
    const auto *sections = reinterpret_cast<const Elf64_Shdr *>(file + header->e_shoff);
    const char *section_names = file + sections[header->e_shstrndx].sh_offset;
    for (unsigned s = 0; s < header->e_shnum; ++s) {
        if (sections[s].sh_type != SHT_SYMTAB)
            continue;
        const auto *symbols = reinterpret_cast<const Elf64_Sym *>(file + sections[s].sh_offset);
        const char *names = file + sections[sections[s].sh_link].sh_offset;
        for (size_t k = 0; k < sections[s].sh_size / sizeof *symbols; ++k) {
            const Elf64_Sym &symbol = symbols[k];
            if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= header->e_shnum)
                continue;
            const char *section = section_names + sections[symbol.st_shndx].sh_name;
            const char *name = names + symbol.st_name;
            bool shared = !strcmp(section, "polyc_shared"), constant = !strcmp(section, "polyc_constant");
            // The linker's own symbols have no size: __TMC_END__ lies where the data end, and this may be here.
            if ((!shared && !constant) || symbol.st_size == 0 || strstr(name, "polyc_shim_gap_"))
                continue;
            auto *region = static_cast<Region *>(calloc(1, sizeof(Region)));
            region->begin = reinterpret_cast<uintptr_t>(base) + symbol.st_value;
            region->size_bytes = symbol.st_size;
            region->space = shared ? kShared : kConstant;
            region->mask = ~(size_t)0;
            split_name(name, region);
            insert(region);
        }
    }
}

__attribute__((constructor)) void load()
{
    Dl_info info;
    if (!dladdr(reinterpret_cast<void *>(&load), &info))
        return;
    library_base = reinterpret_cast<uintptr_t>(info.dli_fbase);
    snprintf(own_file, sizeof own_file, "%s", info.dli_fname);
    snprintf(report_file, sizeof report_file, "%s.report", own_file);
    unlink(report_file);
    int file = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status)) {
        fprintf(stderr, "the CUDA shim cannot read %s\n", info.dli_fname);
        abort();
    }
    void *content = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (content != MAP_FAILED) {
        add_variables(static_cast<char *>(content), static_cast<char *>(info.dli_fbase));
        munmap(content, status.st_size);
    }
    close(file);
    dynamic_region.begin = reinterpret_cast<uintptr_t>(dynamic_memory);
    dynamic_region.space = kShared;
    dynamic_region.mask = ~(size_t)0;
    snprintf(dynamic_region.name, sizeof dynamic_region.name, "dynamic shared memory");
    insert(&dynamic_region);
}

}  // namespace

Region *find(uintptr_t address)
{
    unsigned low = 0, high = region_count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (regions[middle]->begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - regions[low - 1]->begin >= regions[low - 1]->size_bytes)
        return nullptr;
    return regions[low - 1];
}

bool in_host_reach(uintptr_t address, size_t size_bytes)
{
    for (unsigned k = 0; k < region_count; ++k) {
        const Region &r = *regions[k];
        if (r.space == kGlobal && address < r.begin + r.size_bytes && r.begin < address + size_bytes)
            return false;
    }
    return true;
}

// A kernel's shared variables; those of functions that are no kernels, and of none, are all kernels'.
unsigned shared_regions(const char *kernel, Region **found, unsigned most)
{
    extern const char *const *kernels;
    unsigned count = 0;
    for (unsigned k = 0; k < region_count && count < most; ++k) {
        if (regions[k]->space != kShared)
            continue;
        bool others = false;
        for (const char *const *other = kernels; *other; ++other)
            others |= !strcmp(*other, regions[k]->owner) && strcmp(*other, kernel) != 0;
        if (!others)
            found[count++] = regions[k];
    }
    return count;
}

void set_dynamic_shared(size_t size_bytes) { dynamic_region.size_bytes = size_bytes; }
Region *dynamic_shared() { return &dynamic_region; }

void fail(int error, bool for_good)
{
    last_error = error;
    if (for_good && !fatal_error)
        fatal_error = error;
}

const char *library_file() { return own_file; }
uintptr_t library_begin() { return library_base; }

bool failed_for_good() { return fatal_error != 0; }

// Adds a line to the report, once for a kind and a place of the program. False where it was there already.
bool tell(const char *kind, uintptr_t where, const char *format, ...)
{
    for (unsigned k = 0; k < fault_count; ++k)
        if (fault_places[k] == where && !strcmp(fault_kinds[k], kind))
            return false;
    if (fault_count == kMostFaults)
        return false;
    fault_kinds[fault_count] = kind;
    fault_places[fault_count++] = where;
    char line[1024], text[1536];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    size_t place = where > library_base ? where - library_base : 0;
    int length = place ? snprintf(text, sizeof text, "%s: [%#zx] %s\n", kind, place, line)
                       : snprintf(text, sizeof text, "%s: %s\n", kind, line);
    if (report_length + length >= sizeof report)
        return false;
    memcpy(report + report_length, text, length + 1);
    report_length += length;
    // The program may end before anybody asks.
    if (FILE *file = fopen(report_file, "a")) {
        fwrite(text, 1, length, file);
        fclose(file);
    }
    return true;
}

}  // namespace shim

using namespace shim;

extern "C" {

__attribute__((visibility("default"))) const char *polyc_shim_report(void) { return report; }

// Forgets all faults: the next launch is as the first.
__attribute__((visibility("default"))) void polyc_shim_clear(void)
{
    fault_count = 0;
    report_length = 0;
    report[0] = 0;
    last_error = fatal_error = 0;
    restart_orders();
#ifdef POLYC_SHIM_COUNT
    forget_counts();
#endif
    unlink(report_file);
}

static cudaError_t finish(cudaError_t error = cudaSuccess)
{
    if (error)
        fail(error, false);
    return fatal_error ? (cudaError_t)fatal_error : error;
}

cudaError_t polyc_shim_malloc(void **address, size_t size_bytes)
{
    if (fatal_error)
        return (cudaError_t)fatal_error;
    auto *region = static_cast<Region *>(calloc(1, sizeof(Region)));
    size_t rounded = (size_bytes + 255) / 256 * 256;
    char *memory = rounded < size_bytes ? nullptr : static_cast<char *>(aligned_alloc(256, rounded + 2 * kRedZoneBytes));
    *address = nullptr;
    if (!region || !memory || size_bytes == 0) {
        free(region);
        free(memory);
        return size_bytes == 0 ? cudaSuccess : finish(cudaErrorMemoryAllocation);
    }
    memset(memory, 0xff, rounded + 2 * kRedZoneBytes);
    region->begin = reinterpret_cast<uintptr_t>(memory + kRedZoneBytes);
    region->size_bytes = size_bytes;
    region->space = kGlobal;
    region->mask = ~(size_t)0;
    region->memory = memory;
    snprintf(region->name, sizeof region->name, "allocation %u", ++allocation_count);
    if (!insert(region))
        return finish(cudaErrorMemoryAllocation);
    *address = memory + kRedZoneBytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void *address)
{
    if (!address)
        return finish();
    Region *region = find(reinterpret_cast<uintptr_t>(address));
    if (!region || region->space != kGlobal || region->begin != reinterpret_cast<uintptr_t>(address)) {
        tell("bounds", 0, "cudaFree of a pointer that cudaMalloc did not give");
        return finish(cudaErrorInvalidValue);
    }
    remove(region);
    free(region->memory);
    free(region->cells);
    free(region->atomics);
    region->size_bytes = 0;  // the check may remember it
    return finish();
}

static bool is_device(const char *call, const void *address, size_t size_bytes)
{
    auto begin = reinterpret_cast<uintptr_t>(address);
    Region *region = find(begin);
    if (region && region->space == kGlobal && size_bytes <= region->size_bytes - (begin - region->begin))
        return true;
    if (region)
        tell("bounds", 0, "%s of %zu bytes at byte %zu of %s (%zu bytes)", call, size_bytes, begin - region->begin,
             region->name, region->size_bytes);
    else
        tell("bounds", 0, "%s of %zu bytes, where a device pointer should be and is none", call, size_bytes);
    return false;
}

static bool is_host(const char *call, const void *address, size_t size_bytes)
{
    if (in_host_reach(reinterpret_cast<uintptr_t>(address), size_bytes))
        return true;
    tell("bounds", 0, "%s of %zu bytes: a device pointer where a host pointer should be", call, size_bytes);
    return false;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size_bytes, enum cudaMemcpyKind kind)
{
    if (fatal_error || size_bytes == 0)
        return finish();
    if (kind == cudaMemcpyDefault) {
        bool to_device = !in_host_reach((uintptr_t)to, 1), from_device = !in_host_reach((uintptr_t)from, 1);
        kind = (enum cudaMemcpyKind)(to_device + 2 * from_device);
        if (to_device && from_device)
            kind = cudaMemcpyDeviceToDevice;
    }
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!(to_device ? is_device("cudaMemcpy to", to, size_bytes) : is_host("cudaMemcpy to", to, size_bytes)) ||
        !(from_device ? is_device("cudaMemcpy from", from, size_bytes) : is_host("cudaMemcpy from", from, size_bytes)))
        return finish(cudaErrorInvalidValue);
    memcpy(to, from, size_bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size_bytes, enum cudaMemcpyKind kind, cudaStream_t)
{
    return cudaMemcpy(to, from, size_bytes, kind);
}

cudaError_t cudaMemset(void *to, int value, size_t size_bytes)
{
    if (fatal_error || size_bytes == 0)
        return finish();
    if (!is_device("cudaMemset", to, size_bytes))
        return finish(cudaErrorInvalidValue);
    memset(to, value, size_bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size_bytes, cudaStream_t)
{
    return cudaMemset(to, value, size_bytes);
}

cudaError_t cudaDeviceSynchronize(void) { return finish(); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return finish(); }

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    static char streams;
    *stream = reinterpret_cast<cudaStream_t>(&streams);
    return finish();
}

cudaError_t cudaStreamDestroy(cudaStream_t) { return finish(); }

cudaError_t cudaPeekAtLastError(void) { return (cudaError_t)(fatal_error ? fatal_error : last_error); }

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last_error = 0;
    return error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidMemcpyDirection: return "cudaErrorInvalidMemcpyDirection";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorLaunchOutOfResources: return "cudaErrorLaunchOutOfResources";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    }
    return "cudaErrorUnknown";
}

// With the first fault, where there is one: generated programs print this and exit.
const char *cudaGetErrorString(cudaError_t error)
{
    static char text[2048];
    snprintf(text, sizeof text, "%s%s%.*s", cudaGetErrorName(error), error && report_length ? ": " : "",
             error ? (int)strcspn(report, "\n") : 0, report);
    return text;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return finish();
}

cudaError_t cudaSetDevice(int device) { return finish(device == 0 ? cudaSuccess : cudaErrorInvalidValue); }

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return finish();
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int)
{
    *properties = cudaDeviceProp{"polyc's CUDA shim", (size_t)1 << 32, kMostSharedBytes, 65536, 32, 1024,
                                 {1024, 1024, 64}, {0x7fffffff, 65535, 65535}, 8, 0, 4};
    return finish();
}
}
