/* A matrix times a vector in each step: the matrix is copied once, if nothing writes it, and steps and sums are many. */
void steps(int n, int m, int steps, double A[n][m], double x[m], double y[n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                y[i] += A[i][j] * x[j];
#pragma endscop
}
/* pack()
domain
  band[-] for(t) { S0[t, i, j] -> [t] }
    band[c-] for(i, j) { S0[t, i, j] -> [i, j] }
becomes
buffer A_columns heap array(A) extents(n, m) corner({ [] -> A[(0), (0)] }) order(1, 0) accesses(S0.r0, fill_A_columns_A.inside)
domain
  mark "allocate" names(A_columns)
    extension { [] -> fill_A_columns_A[i0, i1] : steps > 0 and 0 <= i0 < n and 0 <= i1 < m }
      sequence
        filter { fill_A_columns_A[i0, i1] }
          band[c] for(x0) permutable tile(16) { fill_A_columns_A[i0, i1] -> [i0 - (i0) mod 16] }
            band[-] for(x1) permutable { fill_A_columns_A[i0, i1] -> [i1] }
              band[-] for(x0) permutable point { fill_A_columns_A[i0, i1] -> [i0] }
        filter { S0[t, i, j] }
          band[-] for(t) { S0[t, i, j] -> [t] }
            band[c-] for(i, j) { S0[t, i, j] -> [i, j] }
says
packed: A is copied once, so that what neighbouring sums read lies side by side
*/
