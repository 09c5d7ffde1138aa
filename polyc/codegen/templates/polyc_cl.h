/* What a program printed by polyc needs of OpenCL 1.2. The device comes from the environment:
     POLYC_OPENCL_DEVICE=0:1     device 1 of platform 0
     POLYC_OPENCL_DEVICE=Radeon  the first device with this in its name or in its platform's, in any case
   and is otherwise the first GPU, or the first device where there is no GPU. A call that fails ends the program with
   exit code 1 and a message. One thread at a time may use these functions. */

#ifndef POLYC_CL_H
#define POLYC_CL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GNUC__
#define POLYC_CL static __attribute__((unused)) /* a program need not call them all */
#else
#define POLYC_CL static
#endif

enum { POLYC_CL_PLATFORMS = 16, POLYC_CL_DEVICES = 64, POLYC_CL_NAME = 256 };

typedef struct {
  cl_platform_id platform;
  cl_device_id id;
  unsigned platform_index, device_index;
  cl_device_type type;
  char name[POLYC_CL_NAME], platform_name[POLYC_CL_NAME];
} polyc_cl_device;

/* One kernel that has been built. */
typedef struct polyc_cl_built {
  const char *source, *name;
  cl_program program;
  cl_kernel kernel;
  struct polyc_cl_built *next;
} polyc_cl_built;

static cl_device_id polyc_cl_id;
static cl_context polyc_cl_context;
static cl_command_queue polyc_cl_queue;
static polyc_cl_built *polyc_cl_kernels;

static const char *polyc_cl_error_name(cl_int code)
{
  static const char *const runtime[] = {
    "CL_SUCCESS", "CL_DEVICE_NOT_FOUND", "CL_DEVICE_NOT_AVAILABLE", "CL_COMPILER_NOT_AVAILABLE",
    "CL_MEM_OBJECT_ALLOCATION_FAILURE", "CL_OUT_OF_RESOURCES", "CL_OUT_OF_HOST_MEMORY",
    "CL_PROFILING_INFO_NOT_AVAILABLE", "CL_MEM_COPY_OVERLAP", "CL_IMAGE_FORMAT_MISMATCH",
    "CL_IMAGE_FORMAT_NOT_SUPPORTED", "CL_BUILD_PROGRAM_FAILURE", "CL_MAP_FAILURE", "CL_MISALIGNED_SUB_BUFFER_OFFSET",
    "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "CL_COMPILE_PROGRAM_FAILURE", "CL_LINKER_NOT_AVAILABLE",
    "CL_LINK_PROGRAM_FAILURE", "CL_DEVICE_PARTITION_FAILED", "CL_KERNEL_ARG_INFO_NOT_AVAILABLE",
  };
  static const char *const invalid[] = { /* from -30 */
    "CL_INVALID_VALUE", "CL_INVALID_DEVICE_TYPE", "CL_INVALID_PLATFORM", "CL_INVALID_DEVICE", "CL_INVALID_CONTEXT",
    "CL_INVALID_QUEUE_PROPERTIES", "CL_INVALID_COMMAND_QUEUE", "CL_INVALID_HOST_PTR", "CL_INVALID_MEM_OBJECT",
    "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", "CL_INVALID_IMAGE_SIZE", "CL_INVALID_SAMPLER", "CL_INVALID_BINARY",
    "CL_INVALID_BUILD_OPTIONS", "CL_INVALID_PROGRAM", "CL_INVALID_PROGRAM_EXECUTABLE", "CL_INVALID_KERNEL_NAME",
    "CL_INVALID_KERNEL_DEFINITION", "CL_INVALID_KERNEL", "CL_INVALID_ARG_INDEX", "CL_INVALID_ARG_VALUE",
    "CL_INVALID_ARG_SIZE", "CL_INVALID_KERNEL_ARGS", "CL_INVALID_WORK_DIMENSION", "CL_INVALID_WORK_GROUP_SIZE",
    "CL_INVALID_WORK_ITEM_SIZE", "CL_INVALID_GLOBAL_OFFSET", "CL_INVALID_EVENT_WAIT_LIST", "CL_INVALID_EVENT",
    "CL_INVALID_OPERATION", "CL_INVALID_GL_OBJECT", "CL_INVALID_BUFFER_SIZE", "CL_INVALID_MIP_LEVEL",
    "CL_INVALID_GLOBAL_WORK_SIZE", "CL_INVALID_PROPERTY", "CL_INVALID_IMAGE_DESCRIPTOR", "CL_INVALID_COMPILER_OPTIONS",
    "CL_INVALID_LINKER_OPTIONS", "CL_INVALID_DEVICE_PARTITION_COUNT",
  };
  if (code <= 0 && code > -(int)(sizeof runtime / sizeof runtime[0]))
    return runtime[-code];
  if (code <= -30 && code > -30 - (int)(sizeof invalid / sizeof invalid[0]))
    return invalid[-30 - code];
  return code == -1001 ? "CL_PLATFORM_NOT_FOUND_KHR" : "of the driver";
}

static void polyc_cl_check(cl_int code, const char *function)
{
  if (code == CL_SUCCESS)
    return;
  fprintf(stderr, "polyc: OpenCL error %d (%s) in %s\n", (int)code, polyc_cl_error_name(code), function);
  exit(1);
}

static void *polyc_cl_memory(size_t bytes)
{
  void *memory = malloc(bytes);
  if (memory == NULL) {
    fprintf(stderr, "polyc: no memory for OpenCL\n");
    exit(1);
  }
  return memory;
}

/* All devices of all platforms, in the drivers' order; answers how many. */
static unsigned polyc_cl_devices(polyc_cl_device *found)
{
  cl_platform_id platforms[POLYC_CL_PLATFORMS];
  cl_uint platform_count = 0;
  unsigned count = 0;
  cl_int code = clGetPlatformIDs(POLYC_CL_PLATFORMS, platforms, &platform_count);
  if (code == -1001) /* the loader finds no driver */
    return 0;
  polyc_cl_check(code, "clGetPlatformIDs");
  for (unsigned p = 0; p < platform_count && p < POLYC_CL_PLATFORMS; p++) {
    cl_device_id devices[POLYC_CL_DEVICES];
    cl_uint device_count = 0;
    code = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, POLYC_CL_DEVICES, devices, &device_count);
    if (code != CL_SUCCESS) /* a driver without its hardware: others may have theirs */
      continue;
    for (unsigned d = 0; d < device_count && d < POLYC_CL_DEVICES && count < POLYC_CL_DEVICES; d++) {
      polyc_cl_device *one = &found[count++];
      memset(one, 0, sizeof *one);
      one->platform = platforms[p];
      one->id = devices[d];
      one->platform_index = p;
      one->device_index = d;
      /* a name that is too long stays empty */
      clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, POLYC_CL_NAME, one->platform_name, NULL);
      clGetDeviceInfo(devices[d], CL_DEVICE_NAME, POLYC_CL_NAME, one->name, NULL);
      polyc_cl_check(clGetDeviceInfo(devices[d], CL_DEVICE_TYPE, sizeof one->type, &one->type, NULL),
                     "clGetDeviceInfo");
    }
  }
  return count;
}

/* Whether a name has a part, whatever the case of the letters. */
static int polyc_cl_has(const char *name, const char *part)
{
  for (; *name; name++) {
    size_t k = 0;
    while (part[k] && tolower((unsigned char)name[k]) == tolower((unsigned char)part[k]))
      k++;
    if (!part[k])
      return 1;
  }
  return 0;
}

/* The device to use. */
static const polyc_cl_device *polyc_cl_choose(const polyc_cl_device *devices, unsigned count)
{
  const char *wish = getenv("POLYC_OPENCL_DEVICE");
  unsigned platform = 0, device = 0;
  char rest;
  int numbers = wish && sscanf(wish, "%u:%u%c", &platform, &device, &rest) == 2;
  if (count == 0) {
    fprintf(stderr, "polyc: no OpenCL device was found\n");
    exit(1);
  }
  if (!wish || !*wish) {
    for (unsigned k = 0; k < count; k++)
      if (devices[k].type & CL_DEVICE_TYPE_GPU)
        return &devices[k];
    return &devices[0];
  }
  for (unsigned k = 0; k < count; k++)
    if (numbers ? devices[k].platform_index == platform && devices[k].device_index == device
                : polyc_cl_has(devices[k].name, wish) || polyc_cl_has(devices[k].platform_name, wish))
      return &devices[k];
  fprintf(stderr, "polyc: no OpenCL device is POLYC_OPENCL_DEVICE=%s; there are\n", wish);
  for (unsigned k = 0; k < count; k++)
    fprintf(stderr, "  %u:%u  %s, %s\n", devices[k].platform_index, devices[k].device_index, devices[k].name,
            devices[k].platform_name);
  exit(1);
}

/* Choose a device and make its context and queue, once in a process. The other functions call it. */
POLYC_CL void polyc_cl_open(void)
{
  if (polyc_cl_queue)
    return;
  polyc_cl_device *devices = polyc_cl_memory(POLYC_CL_DEVICES * sizeof *devices);
  const polyc_cl_device *chosen = polyc_cl_choose(devices, polyc_cl_devices(devices));
  cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)chosen->platform, 0 };
  cl_int code;
  polyc_cl_id = chosen->id;
  polyc_cl_context = clCreateContext(properties, 1, &polyc_cl_id, NULL, NULL, &code);
  polyc_cl_check(code, "clCreateContext");
  polyc_cl_queue = clCreateCommandQueue(polyc_cl_context, polyc_cl_id, 0, &code);
  polyc_cl_check(code, "clCreateCommandQueue");
  free(devices);
}

/* Build a program for the device. It computes what C does without -ffast-math and contraction: divisions and square
   roots round correctly, and a * b + c rounds twice (compilers of OpenCL may fuse it by default). */
static cl_program polyc_cl_program(const char *source)
{
  const char *texts[] = { "#pragma OPENCL FP_CONTRACT OFF\n#line 1\n", source };
  char options[128] = "-cl-std=CL1.2";
  cl_device_fp_config floats = 0;
  cl_int code;
  polyc_cl_open();
  cl_program program = clCreateProgramWithSource(polyc_cl_context, 2, texts, NULL, &code);
  polyc_cl_check(code, "clCreateProgramWithSource");
  polyc_cl_check(clGetDeviceInfo(polyc_cl_id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof floats, &floats, NULL),
                 "clGetDeviceInfo");
  if (floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
    strcat(options, " -cl-fp32-correctly-rounded-divide-sqrt");
  code = clBuildProgram(program, 1, &polyc_cl_id, options, NULL, NULL);
  if (code != CL_SUCCESS) {
    size_t bytes = 0;
    clGetProgramBuildInfo(program, polyc_cl_id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *log = polyc_cl_memory(bytes + 1);
    memset(log, 0, bytes + 1);
    clGetProgramBuildInfo(program, polyc_cl_id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    fprintf(stderr, "%s\n", log);
    free(log);
  }
  polyc_cl_check(code, "clBuildProgram");
  return program;
}

/* A kernel that wants more local memory than there is fails here: some drivers crash at its launch. */
static void polyc_cl_check_local(cl_kernel kernel, const char *name)
{
  cl_ulong wanted = 0, present = 0;
  polyc_cl_check(
    clGetKernelWorkGroupInfo(kernel, polyc_cl_id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof wanted, &wanted, NULL),
    "clGetKernelWorkGroupInfo");
  polyc_cl_check(clGetDeviceInfo(polyc_cl_id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof present, &present, NULL),
                 "clGetDeviceInfo");
  if (wanted > present) {
    fprintf(stderr, "polyc: kernel %s wants %llu bytes of local memory, and the device has %llu\n", name,
            (unsigned long long)wanted, (unsigned long long)present);
    exit(1);
  }
}

/* A kernel of a program. A source is built once, and known again by its address. */
POLYC_CL cl_kernel polyc_cl_kernel(const char *source, const char *name)
{
  cl_program program = NULL;
  cl_int code;
  for (polyc_cl_built *one = polyc_cl_kernels; one; one = one->next)
    if (one->source == source) {
      if (strcmp(one->name, name) == 0)
        return one->kernel;
      program = one->program;
    }
  polyc_cl_built *made = polyc_cl_memory(sizeof *made);
  made->source = source;
  made->name = name;
  made->program = program ? program : polyc_cl_program(source);
  made->kernel = clCreateKernel(made->program, name, &code);
  polyc_cl_check(code, "clCreateKernel");
  polyc_cl_check_local(made->kernel, name);
  made->next = polyc_cl_kernels;
  polyc_cl_kernels = made;
  return made->kernel;
}

/* Copy from the host to a buffer. */
POLYC_CL void polyc_cl_write(cl_mem buffer, const void *host, size_t bytes)
{
  if (bytes > 0)
    polyc_cl_check(clEnqueueWriteBuffer(polyc_cl_queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL),
                   "clEnqueueWriteBuffer");
}

/* Wait for the launches, then copy from a buffer to the host. */
POLYC_CL void polyc_cl_read(cl_mem buffer, void *host, size_t bytes)
{
  if (bytes > 0)
    polyc_cl_check(clEnqueueReadBuffer(polyc_cl_queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL),
                   "clEnqueueReadBuffer");
}

/* Memory of the device; with the host's data where `host` is not NULL. */
POLYC_CL cl_mem polyc_cl_buffer(size_t bytes, const void *host)
{
  cl_int code;
  polyc_cl_open();
  cl_mem buffer = clCreateBuffer(polyc_cl_context, CL_MEM_READ_WRITE, bytes > 0 ? bytes : 1, NULL, &code);
  polyc_cl_check(code, "clCreateBuffer");
  if (host)
    polyc_cl_write(buffer, host, bytes);
  return buffer;
}

/* Release a buffer; launches that use it end first. */
POLYC_CL void polyc_cl_free(cl_mem buffer)
{
  polyc_cl_check(clReleaseMemObject(buffer), "clReleaseMemObject");
}

/* Set an argument: the address of a cl_mem or of a number; NULL with the size for a __local pointer. */
POLYC_CL void polyc_cl_arg(cl_kernel kernel, unsigned index, size_t bytes, const void *value)
{
  polyc_cl_check(clSetKernelArg(kernel, index, bytes, value), "clSetKernelArg");
}

/* Start a kernel with groups[d] work-groups of local[d] work-items; launches run one after the other. */
POLYC_CL void polyc_cl_launch(cl_kernel kernel, int dims, const size_t *groups, const size_t *local)
{
  size_t global[3] = { 1, 1, 1 };
  for (int d = 0; d < dims; d++) {
    if (groups[d] == 0) /* an error in OpenCL 1.2 */
      return;
    global[d] = groups[d] * local[d];
  }
  polyc_cl_check(
    clEnqueueNDRangeKernel(polyc_cl_queue, kernel, (cl_uint)dims, NULL, global, local, 0, NULL, NULL),
    "clEnqueueNDRangeKernel");
}

/* Wait for the launches. */
POLYC_CL void polyc_cl_finish(void)
{
  polyc_cl_check(clFinish(polyc_cl_queue), "clFinish");
}

#endif
