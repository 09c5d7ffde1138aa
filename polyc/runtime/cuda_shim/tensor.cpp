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

}  // namespace

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
