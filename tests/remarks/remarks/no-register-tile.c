/* polyc compile --target cuda */
void f(float A[80][64], float C[80][80])
{
#pragma scop
    for (int i = 0; i < 80; i++)
        for (int j = i; j < 80; j++) {
            C[i][j] = 0.0f;
            for (int k = 0; k < 64; k++)
                C[i][j] += A[i][k] * A[j][k];
            C[j][i] = C[i][j];
        }
#pragma endscop
}
