/* A sum that runs in the tiles of what reads it: its copies would be added inside of what is added there. */
static float C2[42][81];
void added_sum(long n, long (*C1)[n], const int *B4, unsigned char B5[n])
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (j % 2 == 0) {
                C1[i + 1][j % 2] += ((C2[(i + 1) / 2][2 * j] > 0.25) - ((C2[i + 2][j + 1] > 0.25))) % 1009;
            } else {
                C1[j % 2 + 0 + 1][i] = ((C2[j][2 * i + 2] > 0.25) - (C1[j + 2][i] % 1009)) % 1009;
            }
        }
    }
    for (int i = 0; i < n; i++) {
        B5[i] = B4[i] + i * ((C1[i][(i * i % 7 + 7) % 7] % 1009) % 97);
    }
}
