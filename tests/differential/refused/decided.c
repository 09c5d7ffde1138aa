/* A choice by two comparisons that each iteration decides: the text has no '&&', and does not select a value either. */
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static double B6[6];
void kernel(double B2[9], double B8[1])
{
    double s5 = 2.1;
    (void)s5;  /* its reader may be dead */
    double v_double9 = 0;
    double v_double8 = 0;
    double v_double7 = 0;
    double v_double6 = 0;
    double v_double5 = 0;
    double v_double4 = 0;
    double v_double3 = 0;
    double v_double2 = 0;
    double v_double1 = 0;
    double v_double = 0;
#pragma scop
    for (int i = 0; i < 1; i++) {
        for (int j = 0; j < 2; j++) {
            v_double = 0.3;
            v_double += v_double + (B8[i]) * (-0.6);
            v_double1 = v_double * ((B6[MAX(i + 2, 1) + 2]) * (B2[5])) * 0.25;
            B6[i + 2] = B6[i + 3];
            v_double2 = v_double * (s5 + v_double1) * 0.25;
            v_double3 = v_double2 + v_double2 + v_double2;
            B6[i + 2] = ((j + i < 20) && (i > 8 / 2) ? B2[i % 3 + 2] : B6[i + 1]);
            v_double4 = B2[i + 5];
            B6[i + 2] = B2[MAX(i + 1, 0) + 2] + B6[j + 4];
            v_double5 = v_double1 - (i + B6[i]);
            v_double2 = B6[i + 2] + B2[i + 2];
            v_double6 = v_double1 - (B2[i + 2] - (B6[i + 2]));
            v_double3 = v_double4 - (B2[i + 2] - v_double1);
            v_double7 = (-0.6) * (B2[2 * i + 4]) * 0.25;
            B6[i + 3] -= v_double5 + B6[i + 2];
            v_double5 = v_double3 * (B6[i / 2 + 2]) * 0.25;
            B6[i + 2] = v_double7 - ((B2[2 * i + 4]) * (B2[i]));
            v_double8 = v_double3 - (B6[i + 1] + v_double3);
            v_double9 = v_double8 + B6[i + 5];
            v_double9 = B6[i + 3];
            v_double9 = v_double6 * (v_double6 + B2[i + 1]) * 0.25;
            v_double9 = B2[(i * i % 7 + 7) % 7 + 2] - j;
            v_double9 = v_double9 + v_double9;
        }
    }
#pragma endscop
}
