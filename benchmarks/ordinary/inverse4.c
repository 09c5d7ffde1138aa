/*
 * The transforms of a scene: each object's 4 x 4 matrix is inverted by its 2 x 2 minors, and takes the camera's
 * position to the object's own space.
 */
#include "clock.h"

#ifdef SMALL
#define OBJECTS 50
#else
#define OBJECTS 1200000
#endif

typedef struct {
    float m[4][4];
} mat4;

typedef struct {
    float x, y, z, w;
} vec4;

static void to_objects(int n, const mat4 *a, mat4 *inverse, vec4 camera, vec4 *local)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float s0 = a[i].m[0][0] * a[i].m[1][1] - a[i].m[1][0] * a[i].m[0][1];
        float s1 = a[i].m[0][0] * a[i].m[1][2] - a[i].m[1][0] * a[i].m[0][2];
        float s2 = a[i].m[0][0] * a[i].m[1][3] - a[i].m[1][0] * a[i].m[0][3];
        float s3 = a[i].m[0][1] * a[i].m[1][2] - a[i].m[1][1] * a[i].m[0][2];
        float s4 = a[i].m[0][1] * a[i].m[1][3] - a[i].m[1][1] * a[i].m[0][3];
        float s5 = a[i].m[0][2] * a[i].m[1][3] - a[i].m[1][2] * a[i].m[0][3];
        float c5 = a[i].m[2][2] * a[i].m[3][3] - a[i].m[3][2] * a[i].m[2][3];
        float c4 = a[i].m[2][1] * a[i].m[3][3] - a[i].m[3][1] * a[i].m[2][3];
        float c3 = a[i].m[2][1] * a[i].m[3][2] - a[i].m[3][1] * a[i].m[2][2];
        float c2 = a[i].m[2][0] * a[i].m[3][3] - a[i].m[3][0] * a[i].m[2][3];
        float c1 = a[i].m[2][0] * a[i].m[3][2] - a[i].m[3][0] * a[i].m[2][2];
        float c0 = a[i].m[2][0] * a[i].m[3][1] - a[i].m[3][0] * a[i].m[2][1];
        float f = 1.0f / (s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0);

        inverse[i].m[0][0] = (a[i].m[1][1] * c5 - a[i].m[1][2] * c4 + a[i].m[1][3] * c3) * f;
        inverse[i].m[0][1] = (-a[i].m[0][1] * c5 + a[i].m[0][2] * c4 - a[i].m[0][3] * c3) * f;
        inverse[i].m[0][2] = (a[i].m[3][1] * s5 - a[i].m[3][2] * s4 + a[i].m[3][3] * s3) * f;
        inverse[i].m[0][3] = (-a[i].m[2][1] * s5 + a[i].m[2][2] * s4 - a[i].m[2][3] * s3) * f;
        inverse[i].m[1][0] = (-a[i].m[1][0] * c5 + a[i].m[1][2] * c2 - a[i].m[1][3] * c1) * f;
        inverse[i].m[1][1] = (a[i].m[0][0] * c5 - a[i].m[0][2] * c2 + a[i].m[0][3] * c1) * f;
        inverse[i].m[1][2] = (-a[i].m[3][0] * s5 + a[i].m[3][2] * s2 - a[i].m[3][3] * s1) * f;
        inverse[i].m[1][3] = (a[i].m[2][0] * s5 - a[i].m[2][2] * s2 + a[i].m[2][3] * s1) * f;
        inverse[i].m[2][0] = (a[i].m[1][0] * c4 - a[i].m[1][1] * c2 + a[i].m[1][3] * c0) * f;
        inverse[i].m[2][1] = (-a[i].m[0][0] * c4 + a[i].m[0][1] * c2 - a[i].m[0][3] * c0) * f;
        inverse[i].m[2][2] = (a[i].m[3][0] * s4 - a[i].m[3][1] * s2 + a[i].m[3][3] * s0) * f;
        inverse[i].m[2][3] = (-a[i].m[2][0] * s4 + a[i].m[2][1] * s2 - a[i].m[2][3] * s0) * f;
        inverse[i].m[3][0] = (-a[i].m[1][0] * c3 + a[i].m[1][1] * c1 - a[i].m[1][2] * c0) * f;
        inverse[i].m[3][1] = (a[i].m[0][0] * c3 - a[i].m[0][1] * c1 + a[i].m[0][2] * c0) * f;
        inverse[i].m[3][2] = (-a[i].m[3][0] * s3 + a[i].m[3][1] * s1 - a[i].m[3][2] * s0) * f;
        inverse[i].m[3][3] = (a[i].m[2][0] * s3 - a[i].m[2][1] * s1 + a[i].m[2][2] * s0) * f;
    }
    for (int i = 0; i < n; i++) {
        const float p[4] = {camera.x, camera.y, camera.z, camera.w};
        float q[4];

        for (int r = 0; r < 4; r++) {
            q[r] = 0.0f;
            for (int c = 0; c < 4; c++)
                q[r] += inverse[i].m[r][c] * p[c];
        }
        local[i] = (vec4){q[0], q[1], q[2], q[3]};
    }
#pragma endscop
}

int main(void)
{
    mat4 *a = memory(OBJECTS, sizeof *a), *inverse = memory(OBJECTS, sizeof *inverse);
    vec4 *local = memory(OBJECTS, sizeof *local), camera = {3.0f, -2.0f, 10.0f, 1.0f};
    double sum = 0.0;

    for (int i = 0; i < OBJECTS; i++)
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++)
                a[i].m[r][c] = (float)(noise() - 0.5) + (r == c ? 3.0f : 0.0f);
    clock_start();
    to_objects(OBJECTS, a, inverse, camera, local);
    clock_stop();
    for (int i = 0; i < OBJECTS; i++) {
        sum += local[i].x + 2.0 * local[i].y + 3.0 * local[i].z + 4.0 * local[i].w;
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++)
                sum += inverse[i].m[r][c] * (r + 2 * c);
    }
    printf("%.17g\n", sum);
    free(local);
    free(inverse);
    free(a);
    return 0;
}
