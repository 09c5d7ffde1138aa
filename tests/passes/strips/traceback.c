/* The best of some states, which the data choose of a private row, and the way back to where it came from. */
void f(int n, int m, int step[m][n], unsigned char from[m][n], unsigned char way[m][n])
{
#pragma scop
    for (int b = 0; b < n; b++) {
        int metric[8], next[8];
        for (int s = 0; s < 8; s++)
            metric[s] = s ? -50 : 0;
        for (int t = 0; t < m; t++) {
            unsigned taken = 0;
            for (int s = 0; s < 8; s++) {
                int stay = metric[s] + (step[t][b] & 7), come = metric[(s + 1) % 8] + (s & 3);
                next[s] = stay >= come ? stay : come;
                if (come > stay)
                    taken |= 1u << s;
            }
            from[t][b] = taken;
            for (int s = 0; s < 8; s++)
                metric[s] = next[s] - next[0];
        }
        int state = 0;
        for (int s = 1; s < 8; s++)
            if (metric[s] > metric[state])
                state = s;
        for (int t = m - 1; t >= 0; t--) {
            way[t][b] = state;
            state = (state + ((from[t][b] >> state) & 1)) % 8;
        }
    }
#pragma endscop
}
