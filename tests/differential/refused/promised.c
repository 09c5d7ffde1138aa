/* A function that is only declared, and of which the user promises that it computes a value from its arguments. */
double weight(double distance);

#pragma polyc pure(weight)
void f(int n, double out[n][n], const double a[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = weight(a[i] - a[j]);
#pragma endscop
}
