#include "call.h"

#include "halide_bilateral.h"

static void run(const void *in, void *out)
{
    BUFFER(input, in, halide_type_float, 32, COLS, ROWS);
    BUFFER(output, out, halide_type_float, 32, COLS, ROWS);

    halide_bilateral(&input, &output);
}

#define RUN run
#include "bilateral.h"
