/* isl's outer loop carries the values of `s` from (i, j) to other iterations; its inner loop runs over several of them. */
void f(float a[5][3])
{
#pragma scop
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            float s = -0.6;
            a[i + 1][2 * j] = s;
            a[i][j] = (s + 1) * 1.7f + a[i % 2][j + 1];
        }
#pragma endscop
}
