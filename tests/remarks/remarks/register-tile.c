/* polyc compile --target cuda --allow-tf32 */
void f(float A[100][64], float B[64][80], float C[100][80], 
       double D[100][80], double E[100][64], double G[64][80])
{
#pragma scop
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 80; j++)
            for (int k = 0; k < 64; k++)
                C[i][j] += A[i][k] * B[k][j];
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 80; j++)
            for (int k = 0; k < 64; k++)
                D[i][j] += E[i][k] * G[k][j];
#pragma endscop
}
