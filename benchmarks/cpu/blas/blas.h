/* BLAS(gemm) is cblas_dgemm, or cblas_sgemm for floats. Everything is row-major. */
#include <cblas.h>

#ifdef DATA_TYPE_IS_FLOAT
#define BLAS(routine) cblas_s##routine
#else
#define BLAS(routine) cblas_d##routine
#endif
#define NN CblasRowMajor, CblasNoTrans, CblasNoTrans
