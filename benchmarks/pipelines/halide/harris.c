#include "call.h"

#include "halide_harris.h"

static void run(const void *in, void *out)
{
    BUFFER(input, in, halide_type_float, 32, COLS + 4, ROWS + 4);
    BUFFER(output, out, halide_type_float, 32, COLS, ROWS);

    halide_harris(&input, &output);
}

#define RUN run
#include "harris.h"
