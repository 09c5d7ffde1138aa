/* The program around either form: RUN(image, corners). */
int main(void)
{
    void *in = bench_alloc((size_t)(ROWS + 4) * (COLS + 4), sizeof(float));
    void *out = bench_alloc((size_t)ROWS * COLS, sizeof(float));

    bench_fill_float(in, (size_t)(ROWS + 4) * (COLS + 4), 1, 0.0f, 1.0f);
    bench_start();
    RUN(in, out);
    bench_stop();
    bench_dump_float("out", out, ROWS, COLS);
    bench_free(in);
    bench_free(out);
    return 0;
}
