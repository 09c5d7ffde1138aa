/* Where both loops over j run, j is 0 or 1 at some places, and the text has -1 for a subscript of the flat array C2:
   `C2[-1L * (n + 2) + k]`. */
struct pair { double x, y; };

void kernel(int n, long m, struct pair (*C1)[m + 3], double *C2, const double (*C5)[5], double C6[6][5])
{
    for (int t = 0; t < 2; t++) {
        for (int j = 0; j < 20; j++)
            for (int k = 3; k <= n - 4; k++)
                C2[(j + 2) * (n + 2) + k + 1] = C1[j + 2][k - 1].x + C1[j][k - 2].x;
        for (int j = t; j < m - 1; j++)
            for (int k = j / 2; k < (j + m < 41 ? j + m : 41) - 1; k++)
                C1[j + 1][k].x = C2[j * (n + 2) + k] + C2[(j + 3) * (n + 2) + k];
    }
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m - 1; j++)
            C6[i][j] += C5[i][j];
}
