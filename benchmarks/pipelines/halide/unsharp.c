#include "call.h"

#include "halide_unsharp.h"

static void run(const void *in, void *out)
{
    BUFFER(input, in, halide_type_float, 32, COLS + 4, ROWS + 4, 3);
    BUFFER(output, out, halide_type_float, 32, COLS, ROWS, 3);

    halide_unsharp(&input, &output);
}

#define RUN run
#include "unsharp.h"
