struct s { int *p; };

void bad(int n, int A[n], struct s *q)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        A[i] = q[i].p[0];
        if (A[i])
            goto out;
    }
out:;
#pragma endscop
}
