// Accesses past the ends of arrays. Each line with a comment has a finding that names the line and the array. n
// is 0.
struct Pair { float x, y; };
struct Mixed { char c; double d; };

#define KERNEL(name) __global__ void name(float* o, int n)
#define I const int i = threadIdx.x

// --- shared memory, one dimension
KERNEL(chars) { I;
    __shared__ char tile[32];
    tile[i] = 1;
    if (i == 0) tile[n + 32] = 1;  //! store .*\(tile\)
    if (i == 1) tile[n - 1] = 1;  //! store .*\(tile\)
    if (i == 2) o[i] = tile[n + 32];  //! load .*\(tile\)
    if (i == 3) o[i] = tile[n - 1];  //! load .*\(tile\)
}
KERNEL(floats) { I;
    __shared__ float tile[32];
    tile[i] = 1;
    if (i == 0) tile[n + 32] = 1;  //! store .*\(tile\)
    if (i == 5) *(tile + n + 32) = 1;  //! store .*\(tile\)
    float* p = tile;
    if (i == 6) p[n + 32] = 1;  //! store .*\(tile\)
    if (i == 7) *--p = 1;  //! store .*\(tile\)
    if (i == 10) atomicAdd(&tile[n + 32], 1);  //! out-of-bounds .*\(tile\)
    if (i == 11) tile[n + 32]++;  //! (load|store) .*\(tile\)
}
KERNEL(float4s) { I;
    __shared__ float4 tile[32];
    tile[i] = make_float4(1, 2, 3, 4);
    if (i == 0) tile[n + 32] = make_float4(1, 2, 3, 4);  //! store .*\(tile\)
    if (i == 3) o[i] = tile[n - 1].w;  //! load .*\(tile\)
    if (i == 4) tile[i] = tile[n + 32];  //! load .*\(tile\)
}
KERNEL(mixed) { I;
    __shared__ Mixed tile[32];
    tile[i] = {1, 2};
    if (i == 0) tile[n + 32].c = 1;  //! store .*\(tile\)
    if (i == 1) o[i] = tile[n - 1].d;  //! load .*\(tile\)
}
// --- two and three dimensions
KERNEL(padded) { I;
    __shared__ float tile[32][33];
    tile[i][32] = 1;
    if (i == 0) tile[n + 32][i] = 1;  //! store .*\(tile\)
    if (i == 1) tile[n - 1][i] = 1;  //! store .*\(tile\)
    if (i == 2) o[i] = tile[n + 32][32];  //! load .*\(tile\)
    if (i == 3) tile[31][n + 33] = 1;  //! store .*\(tile\)
    if (i == 4) o[i] = tile[n - 1][0];  //! load .*\(tile\)
}
KERNEL(cube) { I;
    __shared__ float tile[4][8][9];
    tile[i / 8][i % 8][0] = 1;
    if (i == 0) tile[n + 4][0][0] = 1;  //! store .*\(tile\)
    if (i == 2) o[i] = tile[3][n + 8][0];  //! load .*\(tile\)
    if (i == 3) o[i] = tile[3][7][n + 9];  //! load .*\(tile\)
}
// --- several in one declaration, and several declarations
KERNEL(one_by_one) { I;
    __shared__ float a[32];
    __shared__ double b[32];
    __shared__ char c[32];
    __shared__ int one;
    a[i] = b[i] = c[i] = 1;
    if (i == 0) one = 1;
    if (i == 1) a[n + 32] = 1;  //! store .*\(a\)
    if (i == 3) c[n + 32] = 1;  //! store .*\(c\)
    if (i == 4) b[n - 1] = 1;  //! store .*\(b\)
    if (i == 6) (&one)[n + 1] = 1;  //! store .*\(one\)
}
// --- declared elsewhere
template <typename T, int N>
__global__ void templated(T* o, int n) { I;
    __shared__ T tile[N][N + 1];
    tile[i % N][0] = 1;
    if (i == 0) tile[n + N][i] = 1;  //! store .*\(tile\)
    if (i == 1) o[i] = tile[n - 1][i];  //! load .*\(tile\)
    if (i == 2) tile[N - 1][n + N + 1] = 1;  //! store .*\(tile\)
}
__shared__ float everywhere[32];
__shared__ int squares[8][8];
KERNEL(at_namespace_scope) { I;
    everywhere[i] = 1;
    squares[i / 8][i % 8] = 1;
    if (i == 0) everywhere[n + 32] = 1;  //! store .*\(everywhere\)
    if (i == 1) o[i] = everywhere[n - 1];  //! load .*\(everywhere\)
    if (i == 2) squares[n + 8][0] = 1;  //! store .*\(squares\)
    if (i == 3) o[i] = squares[n - 1][7];  //! load .*\(squares\)
}
KERNEL(dynamic) { I;
    extern __shared__ float room[];
    room[i] = 1;
    if (i == 0) room[n + 32] = 1;  //! store .*dynamic shared memory
    if (i == 1) room[n - 1] = 1;  //! store .*dynamic shared memory
    if (i == 2) o[i] = room[n + 32];  //! load .*dynamic shared memory
    if (i == 3) o[i] = room[n - 1];  //! load .*dynamic shared memory
    float4* wide = reinterpret_cast<float4*>(room);
    if (i == 4) wide[n + 8] = make_float4(1, 2, 3, 4);  //! store .*dynamic shared memory
}
KERNEL(handed_on) { I;
    __shared__ float tile[32];
    tile[i] = 1;
    auto put = [](float* p, int k) {
        p[k] = 1;  //! store .*\(tile\)
    };
    auto get = [](const float* p, int k) {
        return p[k];  //! load .*\(tile\)
    };
    if (i == 0) put(tile, n + 32);
    if (i == 1) o[i] = get(tile, n - 1);
    float (&r)[32] = tile;
    if (i == 2) r[n + 32] = 1;  //! store .*\(tile\)
    float4* wide = reinterpret_cast<float4*>(tile);
    if (i == 3) wide[n + 8] = make_float4(1, 2, 3, 4);  //! store .*\(tile\)
    if (i == 4) o[i] = wide[n - 1].x;  //! load .*\(tile\)
    const int* words = reinterpret_cast<const int*>(tile);
    if (i == 5) o[i] = words[n + 32];  //! load .*\(tile\)
}
// --- members of a structure in shared memory
struct Room {
    float left[8];
    float right[8][4];
    int last[8];
};
KERNEL(members) { I;
    __shared__ Room room;
    room.left[i % 8] = room.right[i / 4][i % 4] = room.last[i % 8] = 1;
    __syncthreads();
    if (i == 0) room.left[n + 8] = 1;  //! index 8 of a member of shared memory .*float ?\[8\]
    if (i == 1) room.left[n - 1] = 1;  //! (index -1 of|store) .*\(room\)
    if (i == 3) room.right[n + 8][0] = 1;  //! index 8 of a member of shared memory .*float ?\[8\]\[4\]
    if (i == 4) room.right[7][n + 4] = 1;  //! index 4 of a member of shared memory .*float ?\[4\]
    if (i == 5) room.last[n + 8] = 1;  //! (index 8 of|store) .*\(room\)
}
KERNEL(members_of_elements) { I;
    __shared__ Room rooms[4];
    rooms[i % 4].left[0] = 1;
    if (i == 0) rooms[n + 1].left[n + 8] = 1;  //! index 8 of a member of shared memory .*float ?\[8\]
    if (i == 1) o[i] = rooms[n].last[n + 8];  //! index 8 of a member of shared memory .*int ?\[8\]
    if (i == 2) rooms[n + 4].left[0] = 1;  //! store .*\(rooms\)
    if (i == 3) o[i] = rooms[n - 1].last[7];  //! load .*\(rooms\)
}
// --- global memory
__device__ float numbers[32];
__device__ const float table[32] = {1, 2, 3};
__device__ float grid[8][8];
static __device__ int counts[32];
static __device__ const int own_table[4] = {1, 2, 3, 4};
__constant__ float constants[32];
__constant__ int constant_grid[4][4];
namespace inner {
__device__ double cells[16];
__device__ const Pair pairs[4] = {{1, 2}};
__constant__ char letters[8];
}
namespace {
__device__ short hidden[8];
}
KERNEL(variables) { I;
    if (i == 0) numbers[n + 32] = 1;  //! store .*numbers
    if (i == 2) o[i] = numbers[n + 32];  //! load .*numbers
    if (i == 3) o[i] = table[n + 32];  //! load .* table
    if (i == 5) grid[n + 8][0] = 1;  //! store .*grid
    if (i == 7) counts[n + 32] = 1;  //! store .*counts
    if (i == 9) o[i] = own_table[n + 4];  //! load .*own_table
    if (i == 11) o[i] = constants[n + 32];  //! load .*constants
    if (i == 13) o[i] = constant_grid[n + 4][0];  //! load .*constant_grid
    if (i == 14) inner::cells[n + 16] = 1;  //! store .*cells
    if (i == 16) o[i] = inner::pairs[n + 4].x;  //! load .*pairs
    if (i == 17) o[i] = inner::letters[n + 8];  //! load .*letters
    if (i == 18) hidden[n + 8] = 1;  //! store .*hidden
    if (i == 20) grid[7][n + 8] = 1;  //! store .*grid
    if (i == 21) atomicAdd(&counts[n + 32], 1);  //! out-of-bounds .*counts
    if (i == 22) o[n - 1] = 1;  //! store .* o
    if (i == 23) o[n + 64] = 1;  //! store .* o
    if (i == 24) o[0] = o[n + 64];  //! load .* o
}

void run(void (*kernel)(float*, int))
{
    float* o;
    cudaMalloc(&o, 64 * sizeof(float));
    cudaMemset(o, 0, 64 * sizeof(float));
    kernel<<<1, 32, 128>>>(o, 0);
    cudaDeviceSynchronize();
    cudaDeviceReset();  // the error of a kernel stays until then
}

int main()
{
    run(chars); run(floats); run(float4s); run(mixed);
    run(padded); run(cube); run(one_by_one);
    run(templated<float, 16>); run(at_namespace_scope); run(dynamic); run(handed_on);
    run(members); run(members_of_elements); run(variables);
}
