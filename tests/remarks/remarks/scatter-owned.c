void mesh(int edges, const int tail[edges], const int head[edges], const double flow[edges], double *net)
{
#pragma scop
    for (int e = 0; e < edges; e++) {
        net[tail[e]] += flow[e];
        net[head[e]] -= flow[e];
    }
#pragma endscop
}
