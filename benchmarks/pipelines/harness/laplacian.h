/* The program around either form: RUN(image, result). Its 16 bits are compared as floats: the last one may differ. */
int main(void)
{
    const size_t count = (size_t)3 * ROWS * COLS;
    int *numbers = bench_alloc(count, sizeof(int));
    unsigned short *in = bench_alloc(count, sizeof(unsigned short));
    unsigned short *out = bench_alloc(count, sizeof(unsigned short));
    float *dumped = bench_alloc(count, sizeof(float));

    bench_fill_int(numbers, count, 1, 0, 65535);
    for (size_t i = 0; i < count; i++)
        in[i] = (unsigned short)numbers[i];
    bench_start();
    RUN((void *)in, (void *)out);
    bench_stop();
    for (size_t i = 0; i < count; i++)
        dumped[i] = out[i];
    bench_dump_float("out", dumped, (size_t)3 * ROWS, COLS);
    bench_free(numbers);
    bench_free(in);
    bench_free(out);
    bench_free(dumped);
    return 0;
}
