/* A scalar of each iteration lives across the loop below: the loop along the rows' elements stays where it is. */
void private_(int n, double A[n][n], double y[n])
{
    double t;
#pragma scop
    for (int i = 0; i < n; i++) {
        t = 0.0;
        for (int k = 0; k < n; k++)
            t += A[k][i];
        y[i] = t;
    }
#pragma endscop
}
/* vectorize()
domain
  band[c] for(i) { S0[i] -> [i]; S1[i, k] -> [i]; S2[i] -> [i] }
    sequence
      filter { S0[i] }
      filter { S1[i, k] }
        band[-] for(k) { S1[i, k] -> [k] }
      filter { S2[i] }
stays
*/
