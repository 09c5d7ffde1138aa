#pragma scop
int x;
#pragma endscop
