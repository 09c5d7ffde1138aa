/* The program around either form: RUN(raw, warm, cold, image). The matrices' rows give red, green and blue. */
int main(void)
{
    const size_t count = (size_t)(ROWS + 48) * (COLS + 32), pixels = (size_t)3 * ROWS * COLS;
    float warm[3][4] = {{1.7f, -0.2f, -0.4f, -42.0f}, {-0.3f, 1.7f, -0.2f, -42.0f}, {0.0f, -0.6f, 1.8f, -42.0f}};
    float cold[3][4] = {{2.3f, -0.4f, -0.4f, -42.0f}, {-0.4f, 1.6f, -0.1f, -42.0f}, {-0.1f, -0.5f, 1.5f, -42.0f}};
    int *numbers = bench_alloc(count > pixels ? count : pixels, sizeof(int));
    unsigned short *raw = bench_alloc(count, sizeof(unsigned short));
    unsigned char *image = bench_alloc(pixels, 1);

    bench_fill_int(numbers, count, 1, 0, 1023);
    for (size_t i = 0; i < count; i++)
        raw[i] = (unsigned short)numbers[i];
    bench_start();
    RUN((void *)raw, warm, cold, (void *)image);
    bench_stop();
    for (size_t i = 0; i < pixels; i++)
        numbers[i] = image[i];
    bench_dump_int("image", numbers, (size_t)3 * ROWS, COLS);
    bench_free(numbers);
    bench_free(raw);
    bench_free(image);
    return 0;
}
