/* C compilers unroll loops over a window of 3 x 3, and keep its sum in a register: the loop around them stays. */
void window(int n, int m, float in[n + 2][m + 2], float w[3][3], float out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    out[i][j] += in[i + k][j + l] * w[k][l];
#pragma endscop
}
/* vectorize()
domain
  band[cc] for(i, j) permutable { S0[i, j, k, l] -> [i, j] }
    band[--] for(k, l) permutable { S0[i, j, k, l] -> [k, l] }
stays
*/
/* vectorize()
domain
  band[cc] for(j, i) permutable { S0[i, j, k, l] -> [j, i] }
    band[--] for(k, l) permutable { S0[i, j, k, l] -> [k, l] }
stays
*/
/* vectorize()
# The loops of a register tile are in their order.
domain
  band[cc] for(j, i) permutable { S0[i, j, k, l] -> [j, i - i mod 4] }
    band[--] for(k, l) permutable { S0[i, j, k, l] -> [k, l] }
      band[c] for(i) register { S0[i, j, k, l] -> [i mod 4] }
stays
*/
