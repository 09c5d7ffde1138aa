/* The size of the window, and the function that uses it. */
#ifndef BLUR_H
#define BLUR_H

#define WINDOW 3

void blur(int height, int width, float in[height][width], float out[height - WINDOW + 1][width - WINDOW + 1]);

#endif
