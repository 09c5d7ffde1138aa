/* Structs of which loops write some members, and read others at other elements. */
typedef struct {
    double at, speed[2], force;
} body;

void members(int n, body p[n], double w[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            p[i].speed[k] = p[n - 1 - i].force * (k + 1) + p[i].at;
    for (int i = 0; i < n; i++)
        if (w[i] > 0.5)
            p[i].force = p[n - 1 - i].speed[1] - p[i].speed[0];
#pragma endscop
}
