// A CPU's stand-in for CUDA's header of the same name: half precision in memory, its conversions and bits, and nothing else.
#pragma once
#include <cuda_runtime.h>

#pragma GCC visibility push(hidden)

struct __half {
    unsigned short bits;
};

// On the bits alone: no compiler of C++ has to know the type, and no processor to have the instructions.
static inline float __half2float(__half value)
{
    const unsigned sign = (value.bits & 0x8000u) << 16, exponent = value.bits >> 10 & 31, fraction = value.bits & 0x3ffu;
    unsigned bits;
    float found;
    if (exponent == 0) {
        found = (float)fraction * 0x1p-24f;
        return sign ? -found : found;
    }
    if (exponent == 31)
        bits = sign | 0x7f800000u | fraction << 13 | (fraction ? 0x400000u : 0u);
    else
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    __builtin_memcpy(&found, &bits, sizeof found);
    return found;
}

// To the nearest, to even where two are as near: once, from a double too (a float is one).
static inline __half __double2half(double value)
{
    unsigned long bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    const unsigned short sign = (unsigned short)(bits >> 48 & 0x8000u);
    const double size = __builtin_fabs(value);
    if (size != size)
        return {(unsigned short)(sign | 0x7e00u)};
    if (size >= 65520.0)  // half a step above the largest one
        return {(unsigned short)(sign | 0x7c00u)};
    int exponent = (int)(bits >> 52 & 0x7ffu) - 1023;
    if (exponent < -14)
        exponent = -14;
    // In units of the last place: below 2048, and whole after rounding. The carry goes to the exponent by itself.
    const unsigned last = (unsigned)__builtin_rint(__builtin_ldexp(size, 10 - exponent));
    return {(unsigned short)(sign | (((unsigned)(exponent + 14) << 10) + last))};
}

static inline __half __float2half(float value) { return __double2half(value); }
static inline __half __float2half_rn(float value) { return __double2half(value); }

static inline unsigned short __half_as_ushort(__half value) { return value.bits; }
static inline __half __ushort_as_half(unsigned short bits) { return {bits}; }

#pragma GCC visibility pop
