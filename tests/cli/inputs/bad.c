int next(int);

void bad(int n, int A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        A[i] = next(i);
        if (A[i])
            goto out;
    }
out:;
#pragma endscop
}
