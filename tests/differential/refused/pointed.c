/* The length of a row as a member of a struct that a pointer leads to: written as p->n, asked for as p[0].n. */
struct view_float { float *at; int n1, n2; };
void kernel(int n, int m, float *D4, int I5[27], float *s6, double D1[n + 7][m + 5][n + 4])
{
    struct view_float D4_view = {(float *)D4, (int)(n), (int)(n + 4)};
    const struct view_float *D4_of = &D4_view;
#pragma scop
    for (int i = 0; i < m + 1; i++) {
        if (*s6 >= 0.9) {
            for (int j = i; j < n; j++) {
                D1[j + 1][i + 1][j] -= D4_of->at[((i + 2) * (D4_of->n1) + j) * (D4_of->n2) + I5[i]];
            }
        }
    }
#pragma endscop
}
