/* Arrays of structs of which loops write some members, and read others at other elements. */
#include "driver.h"

typedef struct {
    double x, y;
} vector;
typedef struct {
    vector at, force;
    double moved[3];
    double mass;
} body;
struct cell {
    float old, next;
    short kind;
};

static void forces(int n, body *b)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        body *one = b + i;
        double fx = 0.0, fy = 0.0;
        for (int j = 0; j < n; j++) {
            const body *other = &b[j];
            double dx = other->at.x - one->at.x, dy = other->at.y - one->at.y;
            double w = other->mass / (dx * dx + dy * dy + 1.0);
            fx += w * dx;
            fy += w * dy;
        }
        one->force.x = fx;
        one->force.y = fy;
        for (int k = 0; k < 3; k++)
            one->moved[k] += b[n - 1 - i].at.y * k;
    }
#pragma endscop
}

static void relax(int steps, int h, int w, struct cell *g)
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int y = 1; y < h - 1; y++)
            for (int x = 1; x < w - 1; x++) {
                g[y * w + x].next = 0.25f * (g[(y - 1) * w + x].old + g[(y + 1) * w + x].old + g[y * w + x - 1].old
                                             + g[y * w + x + 1].old);
                g[y * w + x].kind = g[y * w + x].next > 0.5f;
            }
        for (int y = 1; y < h - 1; y++)
            for (int x = 1; x < w - 1; x++)
                if (g[y * w + x].kind)
                    g[y * w + x].old = g[y * w + x].next;
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 0, 1, 2, 37, 70) {
        int doubles = sizeof(body) / sizeof(double);
        double *b = new_double(doubles * n + 1);
        forces(n, (void *)b);
        dump_double("bodies", b, doubles * n);
        free(b);
        int h = n, w = n + 3;
        struct cell *g = malloc(sizeof(struct cell) * (h * w + 1));
        float *seen = new_float(2 * h * w + 1);
        for (int k = 0; k < h * w; k++) {
            g[k].old = seen[2 * k];
            g[k].next = seen[2 * k + 1];
            g[k].kind = (short)(k % 3);
        }
        relax(3, h, w, g);
        for (int k = 0; k < h * w; k++) {
            seen[2 * k] = g[k].old;
            seen[2 * k + 1] = g[k].next + g[k].kind;
        }
        dump_float("cells", seen, 2 * h * w);
        free(g), free(seen);
    }
    return 0;
}
