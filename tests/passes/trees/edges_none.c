/* What both branches read is read anyway; and a loop that carries values makes no vectors. */
void choose(int n, double u[n], double v[n], double f[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        f[i] = v[i] > 0 ? u[i] * v[i] : u[i] - v[i];
    for (int i = 1; i < n; i++)
        f[i] = f[i - 1] > 0 ? 2 * u[i - 1] : u[i] * v[i];
#pragma endscop
}
/* edges()
domain
  sequence
    filter { S0[i] }
      band[c] for(i) { S0[i] -> [i] }
    filter { S1[i] }
      band[-] for(i) { S1[i] -> [i] }
stays
*/
