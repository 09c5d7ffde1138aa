/* The sizes and the function that conv.c and main.c share. */
#ifndef CONV_H
#define CONV_H

#define H 5760 /* rows of the image */
#define W 7680 /* columns of the image: 44 megapixels, 177 MB as floats */
#define KH 5   /* rows of the window */
#define KW 5   /* columns of the window */

void convolve(const float image[H][W], const float window[KH][KW], float result[H][W]);

#endif
