/* Sums over two loops, below a loop of its own; constant extents that are no multiples of anything. */
void f(double A[5][13][37][41], double w[37][41], double y[5][13])
{
#pragma scop
    for (int b = 0; b < 5; b++)
        for (int c = 0; c < 13; c++)
            for (int h = 0; h < 37; h++)
                for (int v = 0; v < 41; v++)
                    y[b][c] += A[b][c][h][v] * w[h][v];
#pragma endscop
}
/* jam()
domain
  mark "group" text("S0 in tiles of 1 x 8")
    band[cc] for(b, c) permutable tile(1, 8) { S0[b, c, h, v] -> [b, c - (c) mod 8] }
      band[cc] for(b, c) permutable point { S0[b, c, h, v] -> [b, c] }
        band[-] for(h) permutable { S0[b, c, h, v] -> [h] }
          band[-] for(v) { S0[b, c, h, v] -> [v] }
becomes
buffer y_sum tile array(y) extents(1, 8) corner({ [i0, i1, i2, i3] -> y[(i0), (i1)] }) order(0, 1) accesses(S0.r2, fill1_y.inside, keep2_y.inside)
domain
  mark "group" text("S0 in tiles of 1 x 8")
    band[cc] for(b, c) permutable tile(1, 8) { S0[b, c, h, v] -> [b, c - (c) mod 8] }
      band[c] for(b) permutable point { S0[b, c, h, v] -> [b] }
        band[-] for(c) permutable tile(8) { S0[b, c, h, v] -> [c - (c) mod 8] }
          sequence
            filter { S0[b, c, h, v] : c <= 7 }
              mark "allocate" names(y_sum)
                extension {
                    [b_t, c_t, b_p = b_t, c_t2] -> fill1_y[i0 = b_t, i1] : (c_t) mod 8 = 0 and (c_t2) mod 8 = 0 and 0 <= b_t <= 4 and i1 >= c_t and i1 >= c_t2 and 0 <= i1 <= 7 and i1 <= 7 + c_t2 and i1 <= 7 + c_t;
                    [b_t, c_t, b_p = b_t, c_t2] -> keep2_y[i0 = b_t, i1] : (c_t) mod 8 = 0 and (c_t2) mod 8 = 0 and 0 <= b_t <= 4 and i1 >= c_t and i1 >= c_t2 and 0 <= i1 <= 7 and i1 <= 7 + c_t2 and i1 <= 7 + c_t }
                  sequence
                    filter { fill1_y[i0, i1] }
                      band[cc] for(x0, x1) permutable point { fill1_y[i0, i1] -> [i0, i1] }
                    filter { S0[b, c, h, v] }
                      band[--] for(h, v) { S0[b, c, h, v] -> [h, v] }
                        band[c] for(c) permutable register { S0[b, c, h, v] -> [c] }
                    filter { keep2_y[i0, i1] }
                      band[cc] for(x0, x1) permutable point { keep2_y[i0, i1] -> [i0, i1] }
            filter { S0[b, c, h, v] : c >= 8 }
              band[---] for(c, h, v) point(0) { S0[b, c, h, v] -> [c, h, v] }
says
jammed: S0 adds up 8 sums at once into registers, in the order of each cell of y
*/
