// Indices and pointers that stay in their array, whatever its type says. None has a finding. n is 0.
#include <cstdio>

struct Pair { float x, y; };
struct Room {
    float left[8];
    float right[8][4];
    Pair pairs[4];
    int last[8];
};
#define KERNEL(name) __global__ void name(float* o, int n)
#define I const int i = threadIdx.x

KERNEL(flat) { I;
    __shared__ float tile[16][16];
    for (int k = i; k < 256; k += 32) tile[0][k] = k;
    __syncthreads();
    o[i] = tile[0][n + 255] + tile[0][n + 16] + tile[15][n - 16] + tile[1][n - 1];
    o[i] += tile[0][i + 100] * tile[3][i + 17];
    __syncthreads();
    tile[0][i + 64] = tile[0][i + 128];
    tile[0][i + 64] += tile[0][i + 160];
    __syncthreads();
    float* row = tile[1];
    o[i] = row[i + 150] + row[-1] + *(tile[0] + i) + (&tile[0][0])[i + 20] + (*tile)[i + 30];
    __syncthreads();
    atomicAdd(&tile[0][i + 32], 1.0f);
}
KERNEL(padded) { I;
    __shared__ float tile[32][33];
    for (int k = 0; k < 33; ++k) tile[0][32 * k + i] = k;
    __syncthreads();
    o[i] = tile[0][i * 33 + 31] + tile[i][n + 31];
    __shared__ float other[8][16];
    other[0][i + 64] = tile[0][i + 128];
    __syncthreads();
    other[0][i + 32]   =   other[0][95 - i] + tile[1][i + 100];
    other[0][i + 32] -= tile[0][33 * i] * other[0][i + 64];
}
KERNEL(chars) { I;
    __shared__ char tile[8][8];
    tile[0][i + 32] = tile[0][i] = 1;
    __syncthreads();
    o[i] = tile[0][63 - i] + tile[7][n - 40 + i];
}
KERNEL(cubes) { I;
    __shared__ float tile[4][4][4];
    tile[0][0][i] = tile[0][0][i + 32] = 1;
    __syncthreads();
    o[i] = tile[0][n + 15][3] + tile[1][n - 4][0] + tile[0][i % 16][1] + tile[0][n + 4][n + 4];
    __syncthreads();
    tile[0][n + 4 + i % 4][i / 4 % 4] = 2 + tile[3][3][3];
}
KERNEL(elements) { I;
    __shared__ Pair tile[4][8];
    __shared__ float4 wide[4][8];
    tile[0][i] = {1, 2};
    wide[0][i] = make_float4(1, 2, 3, 4);
    __syncthreads();
    o[i] = tile[0][31 - i].y + wide[0][31 - i].w;
    Pair p = tile[1][i - 8];
    float4 f = wide[3][i - 24];
    o[i] = p.x + f.x;
}
KERNEL(casts) { I;
    __shared__ __align__(16) float tile[64];
    __shared__ float4 wide[8];
    reinterpret_cast<float2*>(tile)[i] = make_float2(1, 2);
    reinterpret_cast<float*>(wide)[i] = 1;
    __syncthreads();
    o[i] = reinterpret_cast<float4*>(tile)[i % 16].w + wide[i % 8].x + reinterpret_cast<char*>(tile)[255];
    float4 f = *reinterpret_cast<float4*>(&tile[4 * (i % 16)]);
    o[i] = f.x + reinterpret_cast<float (*)[8]>(tile)[7][i % 8] + reinterpret_cast<float (&)[8][8]>(tile)[0][i + 32];
}
KERNEL(ends) { I;
    __shared__ float tile[32];
    float own[4] = {1, 2, 3, 4};
    tile[i] = 1;
    float* end = &tile[32];
    for (float* p = tile; p != end; ++p) o[i] = i;
    __syncthreads();
    for (float* p = end; p-- > tile + n;) o[i] = *p == 1;
    for (const float& f : tile) o[i] = f == 1;
    o[i] = *(end - 1) + end[-32] + own[n + 3] + (&own[4])[-1] + *(own + 4 - 1);
    const float *first = own, *last = own + 4;
    for (; first != last; ++first) o[i] += *first;
}
KERNEL(loops) { I;
    __shared__ float first[32], second[16], third[8][9];
    int own[8];
    for (int k = 0; k < 32; ++k) if (i == 0) first[k] = 1;
    for (int k = 0; k < 16; ++k) if (i == 0) second[k] = 1;
    for (int k = 0; k < 8; ++k) for (int m = 0; m < 9; ++m) if (i == 0) third[k][m] = 1;
    for (int k = 0; k < 8; ++k) own[k] = k;
    __syncthreads();
    o[i] = first[31] + second[15] + third[7][8] + own[own[n + 7]] + third[own[7]][own[7] + 1];
}
KERNEL(members) { I;
    __shared__ Room rooms[2];
    Room& room = rooms[1];
    room.left[i % 8] = room.right[i / 4][i % 4] = room.last[i % 8] = 1;
    room.pairs[i % 4] = {1, 2};
    __syncthreads();
    o[i] = room.left[n + 7] + room.right[n + 7][n + 3] + room.last[7 - n] + room.pairs[n + 3].y + (&room)[0].left[0];
    float* words = &rooms[1].left[0];
    o[i] = words[8];
}
extern __shared__ float room[];
KERNEL(dynamic) { I;
    for (int k = i; k < 256; k += 32) room[k] = 1;
    __syncthreads();
    float (*rows)[16] = reinterpret_cast<float (*)[16]>(room);
    Pair* pairs = reinterpret_cast<Pair*>(room + 64);
    o[i] = rows[15][i % 16] + rows[0][n + 255] + rows[n][i + 16] + pairs[95].y + room[255];
    float* second = room + 128;
    o[i] = second[127] + second[-128];
}
__device__ float grid[8][8];
__device__ float cube[4][4][4];
__device__ const int table[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__constant__ float constants[4][4];
KERNEL(variables) { I;
    grid[0][i] = grid[0][i + 32] = 1;
    cube[0][0][i] = cube[0][0][i + 32] = 1;
    __syncthreads();
    o[i] = grid[0][63 - i] + grid[7][n - 1] + cube[0][n + 15][3] + cube[1][n - 4][0];
    o[i] = table[0][i % 8] + table[1][n - 4] + table[1][n + 3] + constants[0][n + 15] + constants[3][3];
    float (*rows)[8] = reinterpret_cast<float (*)[8]>(o);
    o[i] = rows[0][i] + 1;
}
struct Header { int count; float data[1]; };
struct Flexible { int count; float data[]; };
KERNEL(trailing) { I;
    Header* h = reinterpret_cast<Header*>(o);
    Flexible* f = reinterpret_cast<Flexible*>(o);
    h->data[i] = 1;
    f->data[i] = 2;
    __syncthreads();
    float x = h->data[n + 20] * 0 + f->data[n + 20] * 0;
    o[i + 64] = x == 0;
}
template <typename T, int N> struct Array {
    T data[N];
    __device__ T& operator[](int k) { return data[k]; }
};
KERNEL(wrapped) { I;
    __shared__ Array<float, 32> tile;
    Array<Array<float, 4>, 4> own;
    tile[i] = 1;
    own[3][3] = 1;
    own[n + 3][n + 2] = 2;
    __syncthreads();
    o[i] = tile[31 - i] + own[3][n + 3] + (own[3][2] += tile[n]);
}

void run(void (*kernel)(float*, int))
{
    float* o;
    cudaMalloc(&o, 128 * sizeof(float));
    cudaMemset(o, 0, 128 * sizeof(float));
    kernel<<<1, 32, 1024>>>(o, 0);
    if (cudaDeviceSynchronize() != cudaSuccess) printf("failed: %s\n", cudaGetErrorString(cudaGetLastError()));
    cudaDeviceReset();
}

int main()
{
    run(flat); run(padded); run(chars); run(cubes); run(elements); run(casts); run(ends); run(loops); run(members);
    run(dynamic); run(variables); run(trailing); run(wrapped);
}
