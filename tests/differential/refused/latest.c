/* A variable of which the last iteration of a loop sets the value that is read: isl printed its readers behind the loop,
   in which its declaration was. */
void latest(int n, int a[n + 4], int b[n + 4])
{
#pragma scop
    for (int j = 3; j < n; j++) {
        int t = a[j];
        for (int k = 0; k < n; k++)
            t = a[k] + k;
        b[j] = t;
        b[j + 1] = b[j] - t * 3;
    }
#pragma endscop
}
