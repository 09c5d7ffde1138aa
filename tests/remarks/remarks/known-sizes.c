static void scale(int n, int window, double a[n][n])
{
    const int half = window / 2;

#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = (a[i][j] + half) / window;
#pragma endscop
}

static double data[300][300];

int main(void)
{
    int n = 300;

    scale(n, 5, data);
    scale(300, 4 + 1, data);
    return 0;
}
