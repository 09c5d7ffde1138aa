void levels(int n, const float x[n], unsigned char grey[n], unsigned char negative[n])
{
    int count[256];
#pragma polyc live-out(grey, negative, count)
#pragma scop
    for (int k = 0; k < 256; k++)
        count[k] = 0;
    for (int i = 0; i < n; i++)
        grey[i] = (unsigned char)(255.0f * x[i]);
    for (int i = 0; i < n; i++)
        count[grey[i]]++;
    for (int i = 0; i < n; i++)
        negative[i] = 255 - grey[i] + (count[i % 256] > 0);
#pragma endscop
}
