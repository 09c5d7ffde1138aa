/*
 * Soft spheres in a periodic box: forces and potential of all pairs closer than a cutoff, then a leapfrog step.
 */
#include "clock.h"

#ifdef SMALL
#define N 130
#define STEPS 2
#else
#define N 1500
#define STEPS 8
#endif

static struct particles {
    float x[N], y[N], z[N], vx[N], vy[N], vz[N], fx[N], fy[N], fz[N], pe[N];
} p;

static inline float nearest(float d, float box)
{
    return d > 0.5f * box ? d - box : d < -0.5f * box ? d + box : d;
}

static void step(float dt, float box, float cutoff)
{
#pragma scop
    for (int i = 0; i < N; i++) {
        float fx = 0, fy = 0, fz = 0, pe = 0;

        for (int j = 0; j < N; j++) {
            float dx = nearest(p.x[i] - p.x[j], box);
            float dy = nearest(p.y[i] - p.y[j], box);
            float dz = nearest(p.z[i] - p.z[j], box);
            float r2 = dx * dx + dy * dy + dz * dz;

            if (j != i && r2 < cutoff) {
                float q = 1 - r2 / cutoff;

                fx += q * q * dx;
                fy += q * q * dy;
                fz += q * q * dz;
                pe += q * q * q;
            }
        }
        p.fx[i] = fx;
        p.fy[i] = fy;
        p.fz[i] = fz;
        p.pe[i] = pe;
    }
    for (int i = 0; i < N; i++) {
        p.vx[i] += dt * p.fx[i];
        p.vy[i] += dt * p.fy[i];
        p.vz[i] += dt * p.fz[i];
        p.x[i] += dt * p.vx[i];
        p.y[i] += dt * p.vy[i];
        p.z[i] += dt * p.vz[i];
    }
#pragma endscop
}

int main(void)
{
    const float box = 12;
    double sum = 0;

    for (int i = 0; i < N; i++) {
        p.x[i] = (float)noise() * box;
        p.y[i] = (float)noise() * box;
        p.z[i] = (float)noise() * box;
    }
    clock_start();
    for (int t = 0; t < STEPS; t++)
        step(0.01f, box, 2.5f);
    clock_stop();
    for (int i = 0; i < N; i++)
        sum += p.x[i] + 2 * p.y[i] + 3 * p.z[i] + p.pe[i];
    printf("%.17g\n", sum);
    return 0;
}
