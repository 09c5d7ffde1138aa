/* polyc compile --target cuda */
struct pixel {
    float red, green, blue;
    struct pixel *next;
};

void grey(int n, struct pixel in[n], float out[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        out[i] = 0.3f * in[i].red + 0.59f * in[i].green + 0.11f * in[i].blue;
#pragma endscop
}
