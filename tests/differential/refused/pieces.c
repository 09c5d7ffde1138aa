/* isl cannot join the pieces of a relation of the check: "original tableau does not correspond to original basic map". */
void kernel(unsigned char n, unsigned char m, int C1[n + 28][n + 8], int C3[22][n + 3])
{
    int C2[26][n + 5];
#pragma scop
    for (int i = 0; i < 26; i++) {
        for (int j = 0; j < n + 5; j++) {
            C2[i][j] = ((-2) * ((C1[i + 1][j] + C1[i][j + 3] + 0 * ((C1[i + 2][j + 3]) % 97)) % 97)) % 1009;
        }
    }
    for (int i = 0; i < 22; i++) {
        for (int j = 0; j < n + 3; j++) {
            C3[i][j] = ((-2) * ((4 * ((C2[i + 3][j + 1]) % 97) + C2[i + 4][j] + (-2) * ((C2[i][j + 2]) % 97) + C2[i + 3][j + 1]) % 97) + C1[i + 2][j + 2]) % 1009;
        }
    }
#pragma endscop
}
