/* A quotient of two sizes in a subscript alone: with its own divisor, which may be zero, it is no size of the text. */
void kernel(long n, int m_whole, int m_part, float C4[62][36], float B5[100])
{
#pragma scop
    for (int i = 1; i < n - 3; i++)
        B5[i + 1] = C4[i + 1][(m_whole / m_part) + 2];
#pragma endscop
}
