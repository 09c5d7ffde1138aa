/* launch SOURCE KERNEL ITEMS: runs a kernel on { 1, 0 } in one work-group, and prints the first number after it. */

#include "polyc_cl.h"

int main(int argc, char **argv)
{
  if (argc != 4)
    return 2;
  size_t groups[] = { 1 }, local[] = { (size_t)atol(argv[3]) };
  int numbers[] = { 1, 0 };
  cl_mem memory = polyc_cl_buffer(sizeof numbers, numbers);
  cl_kernel kernel = polyc_cl_kernel(argv[1], argv[2]);
  polyc_cl_arg(kernel, 0, sizeof memory, &memory);
  polyc_cl_launch(kernel, 1, groups, local);
  polyc_cl_read(memory, numbers, sizeof numbers);
  printf("%d\n", numbers[0]);
  return 0;
}
