/* The program around either form: RUN(image, result). */
int main(void)
{
    void *in = bench_alloc((size_t)3 * (ROWS + 4) * (COLS + 4), sizeof(float));
    void *out = bench_alloc((size_t)3 * ROWS * COLS, sizeof(float));

    bench_fill_float(in, (size_t)3 * (ROWS + 4) * (COLS + 4), 1, 0.0f, 1.0f);
    bench_start();
    RUN(in, out);
    bench_stop();
    bench_dump_float("out", out, (size_t)3 * ROWS, COLS);
    bench_free(in);
    bench_free(out);
    return 0;
}
