#include "call.h"

#include "halide_camera.h"

static void run(const void *raw, const void *warm, const void *cold, void *out)
{
    BUFFER(input, raw, halide_type_uint, 16, COLS + 32, ROWS + 48);
    BUFFER(warm3200, warm, halide_type_float, 32, 4, 3);
    BUFFER(cold7000, cold, halide_type_float, 32, 4, 3);
    BUFFER(output, out, halide_type_uint, 8, COLS, ROWS, 3);

    halide_camera(&input, &warm3200, &cold7000, &output);
}

#define RUN run
#include "camera.h"
