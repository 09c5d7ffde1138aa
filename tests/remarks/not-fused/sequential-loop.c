/* polyc compile --target cuda --machine h200 */
void weighted(float s[512][256], float v[256][64], float out[512][64])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < 512; i++) {
        float most = s[i][0];
        for (int j = 1; j < 256; j++)
            most = s[i][j] > most ? s[i][j] : most;
        for (int j = 0; j < 256; j++)
            s[i][j] = s[i][j] / most;
    }
    for (int i = 0; i < 512; i++)
        for (int d = 0; d < 64; d++) {
            out[i][d] = 0.0f;
            for (int j = 0; j < 256; j++)
                out[i][d] += s[i][j] * v[j][d];
        }
#pragma endscop
}
