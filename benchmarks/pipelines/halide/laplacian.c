#include "call.h"

#include "halide_laplacian.h"

static void run(const void *in, void *out)
{
    BUFFER(input, in, halide_type_uint, 16, COLS, ROWS, 3);
    BUFFER(output, out, halide_type_uint, 16, COLS, ROWS, 3);

    halide_laplacian(&input, &output);
}

#define RUN run
#include "laplacian.h"
