/* One of two iterations changes `s`, which belongs to both: the loop over k stays as it is. Where a variable belongs to
   an iteration, a condition may choose its value; and a statement that runs in one iteration only holds no loop. */
void update(int n, float a[16], float b[n][4], float *largest)
{
#pragma scop
    float s = 0.3f;
    for (int j = 3; j < 16; j++)
        for (int k = j; k < j + 2; k++)
            if (k % 2 == 0)
                s = s < a[j] ? a[j] : s;
    *largest = s;
    for (int i = 0; i < n; i++) {
        float t = 1.0f;
        if (i % 2 == 0)
            t = 2.0f;
        for (int k = 0; k < 4; k++)
            b[i][k] *= t;
        if (i == 5)
            *largest = 0.0f;
    }
#pragma endscop
}
/* parallel(threads="always")
buffer t_private0 private array(t) extents() depth(1) name(t) accesses(S3.r0, S4.r0, S5.r1)
domain
  sequence
    filter { S0[] }
    filter { S1[j, k] }
      band[-] for(j) { S1[j, k] -> [j] }
        band[c] for(k) permutable tile(8) { S1[j, k] -> [k - k mod 8] }
          band[c] for(k) permutable point { S1[j, k] -> [k] }
    filter { S2[] }
    filter { S3[i]; S4[i]; S5[i, k]; S6[i] }
      band[c] for(i) { S3[i] -> [i]; S4[i] -> [i]; S5[i, k] -> [i]; S6[i] -> [i] }
        sequence
          filter { S3[i]; S4[i]; S5[i, k] }
            mark "allocate" names(t_private0)
              sequence
                filter { S3[i] }
                filter { S4[i] }
                filter { S5[i, k] }
                  band[c] for(k) permutable { S5[i, k] -> [k] }
          filter { S6[i] }
becomes
buffer t_private0 private array(t) extents() depth(1) name(t) accesses(S3.r0, S4.r0, S5.r1)
domain
  sequence
    filter { S0[] }
    filter { S1[j, k] }
      band[-] for(j) { S1[j, k] -> [j] }
        band[-] for(k) permutable tile(8) { S1[j, k] -> [k - (k) mod 8] }
          band[-] for(k) permutable point { S1[j, k] -> [k] }
    filter { S2[] }
    filter { S3[i]; S4[i]; S5[i, k]; S6[i] }
      band[c] for(i) parallel(0) { S3[i] -> [i]; S4[i] -> [i]; S5[i, k] -> [i]; S6[i] -> [5] }
        sequence
          filter { S3[i]; S4[i]; S5[i, k] }
            mark "allocate" names(t_private0)
              sequence
                filter { S3[i] }
                filter { S4[i] }
                filter { S5[i, k] }
                  band[c] for(k) permutable { S5[i, k] -> [k] }
          filter { S6[i] }
*/
