/* Sums over two loops, below a loop of its own; constant extents that are no multiples of anything. */
void f(double A[5][13][37][41], double w[37][41], double y[5][13])
{
#pragma scop
    for (int b = 0; b < 5; b++)
        for (int c = 0; c < 13; c++)
            for (int h = 0; h < 37; h++)
                for (int v = 0; v < 41; v++)
                    y[b][c] += A[b][c][h][v] * w[h][v];
#pragma endscop
}
