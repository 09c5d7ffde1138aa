/* Two sums for each row, of which a tile begins one. */
void begun(int n, int a[n][n], int x[n], int s[n], int q[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        q[i] = 1;
        for (int j = 0; j < n; j++) {
            s[i] += a[i][j] * a[i][j];
            q[i] += x[j] * a[i][j];
        }
        s[i] = s[i] - q[i];
    }
#pragma endscop
}
