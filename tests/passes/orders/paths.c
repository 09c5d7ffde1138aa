/* shortest paths: step k changes the row and the column that it reads */
void paths(int n, int path[n][n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}
/* orders()
domain
  band[-] for(k) { S0[k, i, j] -> [k] }
    band[-] for(i_j) { S0[k, i, j] -> [i + j] }
      band[c] for(i) permutable { S0[k, i, j] -> [i] }
becomes
domain
  mark "group" text("S0 runs in the order that was written, with a cut of i and j: along consecutive memory")
    band[-] for(k) line(5) { S0[k, i, j] -> [k] }
      sequence
        filter { S0[k, i, j] : i < k }
          band[c] for(i) line(6) { S0[k, i, j] -> [i] }
            sequence
              filter { S0[k, i, j] : j < k }
                band[c] for(j) line(7) { S0[k, i, j] -> [j] }
              filter { S0[k, i, j = k] }
              filter { S0[k, i, j] : j > k }
                band[c] for(j) line(7) { S0[k, i, j] -> [j] }
        filter { S0[k, i = k, j] }
          sequence
            filter { S0[k, i, j] : j < k }
              band[c] for(j) line(7) { S0[k, i, j] -> [j] }
            filter { S0[k, i, j = k] }
            filter { S0[k, i, j] : j > k }
              band[c] for(j) line(7) { S0[k, i, j] -> [j] }
        filter { S0[k, i, j] : i > k }
          band[c] for(i) line(6) { S0[k, i, j] -> [i] }
            sequence
              filter { S0[k, i, j] : j < k }
                band[c] for(j) line(7) { S0[k, i, j] -> [j] }
              filter { S0[k, i, j = k] }
              filter { S0[k, i, j] : j > k }
                band[c] for(j) line(7) { S0[k, i, j] -> [j] }
says
straightened: S0 runs in the order that was written, with a cut of i and j: along consecutive memory
*/
