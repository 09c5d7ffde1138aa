void nodes(int edges, const int *head, const double *flow, double net[200])
{
#pragma scop
    for (int e = 0; e < edges; e++)
        net[head[e]] += flow[e];
#pragma endscop
}
