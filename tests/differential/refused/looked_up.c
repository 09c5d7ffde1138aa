/* A row of a table in the lanes of a vector, for values that nobody reads: the check of lookups did not know the mention
   of their array, which only keeps compilers from a warning. */
void looked_up(int m, int n, const float (*restrict table)[n], const int *restrict place)
{
    float own[4][8];
#pragma scop
    for (int i = 3; i < 4; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < m - 2; k++)
                own[i][j] = k * j * (table[i][j] * table[2 * i][place[j]]) * 0.25;
#pragma endscop
}
