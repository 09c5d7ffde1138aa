/* polyc compile --machine zen4 */
void count(int n, const unsigned char *level)
{
    int levels[256];
#pragma polyc live-out(levels)
#pragma scop
    for (int k = 0; k < 256; k++)
        levels[k] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            levels[level[i]]++;
#pragma endscop
}
