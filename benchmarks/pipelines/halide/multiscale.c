#include "call.h"

#include "halide_multiscale.h"

static void run(const void *in, void *out)
{
    BUFFER(input, in, halide_type_float, 32, COLS, ROWS, 4);
    BUFFER(output, out, halide_type_float, 32, COLS, ROWS, 3);

    halide_multiscale(&input, &output);
}

#define RUN run
#include "multiscale.h"
