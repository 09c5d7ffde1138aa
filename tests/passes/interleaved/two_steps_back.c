/* Rows in an array of three dimensions, each element from the two before it. */
void two_steps_back(int r, int n, int m, float A[r][n][m])
{
#pragma scop
    for (int k = 0; k < r; k++)
        for (int i = 0; i < n; i++)
            for (int j = 2; j < m; j++)
                A[k][i][j] = A[k][i][j] + 0.25f * A[k][i][j - 1] - 0.125f * A[k][i][j - 2];
#pragma endscop
}
/* interleave()
domain
  band[cc-] for(k, i, j) permutable { S0[k, i, j] -> [k, i, j] }
becomes
domain
  band[cc-] for(k, i, j) permutable tile(-, 8, -) { S0[k, i, j] -> [k, i - (i) mod 8, j] }
    band[c] for(i) permutable point { S0[k, i, j] -> [i] }
says
interleaved: S0: 8 iterations of i at once, since an element waits 8 cycles for the one before it, and takes 2.2
*/
