/* Rows of a matrix that has another one somewhere around it: sizes that are a disjunction, and memory that may overlap. */
void apart(int lk, int ny, double x[][18], double y[][18], double *z)
{
    for (int k = 0; k < lk; k++)
        for (int j = 0; j < ny; j++) {
            y[k][j] = 2 * x[k][j] + 1;
            z[k] = x[k][j];
        }
}
