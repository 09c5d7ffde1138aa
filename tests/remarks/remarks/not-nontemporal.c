/* polyc compile --machine zen3 */
void sum(float out[8000][8000], const float in[8000][8000])
{
#pragma scop
    for (int i = 0; i < 8000; i++)
        for (int j = 0; j < 8000; j++)
            out[i][j] = out[i][j] + in[i][j];
#pragma endscop
}
