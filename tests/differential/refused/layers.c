/* Two dense layers, each with an accumulator of its own by the same name. */
void f(float in[64][256], float first[256][256], float mid[64][256], float last[10][256], float bias[10],
       float out[64][10])
{
#pragma scop
    for (int n = 0; n < 64; n++)
        for (int o = 0; o < 256; o++) {
            float acc = 0;
            for (int i = 0; i < 256; i++)
                acc += first[o][i] * in[n][i];
            mid[n][o] = acc;
        }
    for (int n = 0; n < 64; n++)
        for (int o = 0; o < 10; o++) {
            float acc = bias[o];
            for (int i = 0; i < 256; i++)
                acc += last[o][i] * mid[n][i];
            out[n][o] = acc;
        }
#pragma endscop
}
