// Ends in the middle, with a status of its own. What ran until then is reported; what it did not free is not.
#include <cstdio>
#include <cstdlib>

__global__ void fill(int* data) { data[threadIdx.x] = 1; }

int main(int argc, char** argv)
{
    int* d_data;
    cudaMalloc(&d_data, 128);
    fill<<<1, 32>>>(d_data);
    printf("%d arguments\n", argc - 1);
    exit(argc > 1 ? atoi(argv[1]) : 3);
}
