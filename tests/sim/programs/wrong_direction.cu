// Faulty: a copy to the device that goes to the host's memory, and one from the device that begins there.
#include <cstdio>

int main()
{
    int h_in[32] = {}, h_out[32] = {}, *d_data;
    cudaMalloc(&d_data, sizeof h_in);
    cudaMemcpy(d_data, h_in, sizeof h_in, cudaMemcpyHostToDevice);
    printf("%s\n", cudaGetErrorString(cudaMemcpy(h_out, h_in, sizeof h_in, cudaMemcpyHostToDevice)));
    printf("%s\n", cudaGetErrorString(cudaMemcpy(d_data, h_out, sizeof h_in, cudaMemcpyDeviceToHost)));
    cudaFree(d_data);
    return 0;
}
