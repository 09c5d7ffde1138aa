/* Arrays of C as arguments of a function that Halide made. */
#include <HalideRuntime.h>

#include "harness.h"

/* A buffer over `data`, dense, the extents from the innermost one on. */
#define BUFFER(name, data, code, bits, ...)                                                          \
    const int name##_extents[] = {__VA_ARGS__};                                                      \
    halide_dimension_t name##_dims[sizeof name##_extents / sizeof name##_extents[0]];                \
    halide_buffer_t name = dense(data, code, bits, name##_dims, name##_extents,                      \
                                 (int)(sizeof name##_extents / sizeof name##_extents[0]))

static halide_buffer_t dense(const void *data, halide_type_code_t code, int bits, halide_dimension_t *dims,
                             const int *extents, int dimensions)
{
    halide_buffer_t made = {0};
    int stride = 1;

    for (int d = 0; d < dimensions; d++) {
        dims[d] = (halide_dimension_t){0, extents[d], stride, 0};
        stride *= extents[d];
    }
    made.host = (void *)data;
    made.type = (struct halide_type_t){(uint8_t)code, (uint8_t)bits, 1};
    made.dimensions = dimensions;
    made.dim = dims;
    return made;
}
