#include "solution.cu"
