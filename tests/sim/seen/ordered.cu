// The kernels of races.cu with what they lack: none has a finding.
#define BETWEEN __syncthreads()
#define BETWEEN_LANES __syncwarp()
#define WAITS(...) __VA_ARGS__
#define FAULTY 0
#include "races.cu"
