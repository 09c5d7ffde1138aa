// What the 32 threads of a warp compute together: shuffles, and the products of tensor cores.
//
// Each thread leaves what it has, waits for the others, takes what it needs, and waits again, so that the room is free.
#include "shim.h"

#define PC reinterpret_cast<uintptr_t>(__builtin_return_address(0))

namespace {

struct Left {
    uint32_t a[4], b[4];
};
Left left[shim::kMostThreads];

Left &of_lane(unsigned lane) { return left[shim::state.warp * shim::kWarp + lane]; }

// The hardware reads the sign, the exponent and ten bits of the mantissa.
double tf32(uint32_t bits)
{
    float value;
    bits &= 0xffffe000u;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

// One of the two halves of a register.
double half_of(uint32_t bits, unsigned which)
{
    const uint32_t one = bits >> 16 * which & 0xffffu, exponent = one >> 10 & 31, fraction = one & 0x3ffu;
    const double sign = one & 0x8000u ? -1 : 1;
    if (exponent == 31)
        return fraction ? __builtin_nan("") : sign * __builtin_inf();
    return sign * __builtin_ldexp(exponent ? 1024 + fraction : fraction, static_cast<int>(exponent ? exponent : 1) - 25);
}

}  // namespace

#ifndef POLYC_SHIM_COUNT
static void count_tensor(unsigned, bool) {}
#else
using shim::count_tensor;
#endif

extern "C" uint32_t polyc_shim_shuffle(uint32_t value, int lane, int line)
{
    if (!shim::state.device)
        return value;
    left[shim::state.thread].a[0] = value;
    shim::meet_in_warp(PC, line);
    uint32_t found = of_lane(lane & 31).a[0];
    shim::meet_in_warp(PC, line);
    return found;
}

// d[16][8] = a[16][8] * b[8][8] + c, of tf32; the layout is that of mma.m16n8k8 in the PTX ISA.
extern "C" void polyc_shim_mma_tf32(float *d, const uint32_t *a, const uint32_t *b, const float *c, int line)
{
    if (!shim::state.device)
        return;
    count_tensor(2 * 4 * 8, false);
    Left &own = left[shim::state.thread];
    __builtin_memcpy(own.a, a, 4 * sizeof *a);
    __builtin_memcpy(own.b, b, 2 * sizeof *b);
    shim::meet_in_warp(PC, line);
    const unsigned lane = shim::state.thread % shim::kWarp, g = lane / 4, t = lane % 4;
    for (unsigned k = 0; k < 4; ++k) {
        const unsigned row = g + 8 * (k / 2), column = 2 * t + k % 2;
        double sum = 0;
        for (unsigned p = 0; p < 8; ++p)
            sum += tf32(of_lane(4 * (row % 8) + p % 4).a[row / 8 + 2 * (p / 4)]) *
                   tf32(of_lane(4 * column + p % 4).b[p / 4]);
        d[k] = static_cast<float>(sum + c[k]);
    }
    shim::meet_in_warp(PC, line);
}

// The same for halves: mma.m16n8k16, or m16n8k8, which has the first half of its operands.
extern "C" void polyc_shim_mma_half(float *d, const uint32_t *a, const uint32_t *b, const float *c, int depth, int line)
{
    if (!shim::state.device)
        return;
    count_tensor(2 * 4 * static_cast<unsigned>(depth), true);
    Left &own = left[shim::state.thread];
    __builtin_memcpy(own.a, a, 4 * sizeof *a);
    __builtin_memcpy(own.b, b, 2 * sizeof *b);
    shim::meet_in_warp(PC, line);
    const unsigned lane = shim::state.thread % shim::kWarp, g = lane / 4, t = lane % 4;
    for (unsigned k = 0; k < 4; ++k) {
        const unsigned row = g + 8 * (k / 2), column = 2 * t + k % 2;
        double sum = 0;
        for (unsigned p = 0; p < static_cast<unsigned>(depth); ++p)
            sum += half_of(of_lane(4 * (row % 8) + p % 8 / 2).a[row / 8 + 2 * (p / 8)], p % 2) *
                   half_of(of_lane(4 * column + p % 8 / 2).b[p / 8], p % 2);
        d[k] = static_cast<float>(sum + c[k]);
    }
    shim::meet_in_warp(PC, line);
}
