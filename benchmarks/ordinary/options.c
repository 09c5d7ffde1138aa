/*
 * American put options by finite differences: Crank-Nicolson steps back in time on a grid of log prices, a tridiagonal
 * system (Thomas' algorithm) in each, early exercise by the larger of value and payoff. One column an option.
 */
#include "clock.h"

#include <math.h>

#ifdef SMALL
#define NODES 21
#define OPTIONS 5
#define STEPS 4
#else
#define NODES 201
#define OPTIONS 64
#define STEPS 250
#endif

struct contract {
    double strike, rate, sigma, years;
};

static void price(int nodes, int options, int steps, double dx, const struct contract *contracts,
                  double payoff[nodes][options], double v[nodes][options])
{
    double c[NODES], d[NODES];

#pragma scop
    for (int o = 0; o < options; o++) {
        double dt = contracts[o].years / steps;
        double diffusion = 0.5 * contracts[o].sigma * contracts[o].sigma;
        double drift = contracts[o].rate - diffusion;
        double low = 0.5 * dt * (diffusion / (dx * dx) - drift / (2.0 * dx));
        double high = 0.5 * dt * (diffusion / (dx * dx) + drift / (2.0 * dx));
        double middle = 0.5 * dt * (2.0 * diffusion / (dx * dx) + contracts[o].rate);

        for (int i = 0; i < nodes; i++)
            v[i][o] = payoff[i][o];
        for (int t = 0; t < steps; t++) {
            c[0] = 0.0;
            d[0] = payoff[0][o];
            for (int i = 1; i < nodes - 1; i++) {
                double rhs = low * v[i - 1][o] + (1.0 - middle) * v[i][o] + high * v[i + 1][o];
                double pivot = 1.0 + middle + low * c[i - 1];

                c[i] = -high / pivot;
                d[i] = (rhs + low * d[i - 1]) / pivot;
            }
            v[nodes - 1][o] = 0.0;
            for (int i = nodes - 2; i >= 0; i--) {
                double held = d[i] - c[i] * v[i + 1][o];

                v[i][o] = held > payoff[i][o] ? held : payoff[i][o];
            }
        }
    }
#pragma endscop
}

int main(void)
{
    struct contract *contracts = memory(OPTIONS, sizeof *contracts);
    double (*payoff)[OPTIONS] = memory(NODES, sizeof *payoff), (*v)[OPTIONS] = memory(NODES, sizeof *v);
    double dx = 4.0 / (NODES - 1), sum = 0.0;

    for (int o = 0; o < OPTIONS; o++) {
        contracts[o].strike = 80.0 + 40.0 * noise();
        contracts[o].rate = 0.01 + 0.04 * noise();
        contracts[o].sigma = 0.15 + 0.3 * noise();
        contracts[o].years = 0.5 + noise();
        for (int i = 0; i < NODES; i++)
            payoff[i][o] = fmax(contracts[o].strike - 100.0 * exp(-2.0 + i * dx), 0.0);
    }
    clock_start();
    price(NODES, OPTIONS, STEPS, dx, contracts, payoff, v);
    clock_stop();
    for (int i = 0; i < NODES; i++)
        for (int o = 0; o < OPTIONS; o++)
            sum += v[i][o] * (1 + o % 3);
    printf("%.17g\n", sum);
    free(v);
    free(payoff);
    free(contracts);
    return 0;
}
