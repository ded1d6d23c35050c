// Each kernel has one fault, in an access by value. The comment of its line says which finding names the line.
#include <array>
#include <cstdio>
#include <utility>

struct Pair { float x, y; };
struct Own {
    float x, y;
    Own() = default;
    __device__ Own(const Own& o) : x(o.x), y(o.y) {}  //! own: race: read-after-write
};
struct Point {
    float x, y;
    __device__ Point flipped() const
    {
        return {y, x};  //! flipped: race: read-after-write
    }
    __device__ Point operator+(Point b) const { return {x + b.x, y + b.y}; }
};
__device__ Pair twice(Pair a) { return {2 * a.x, 2 * a.y}; }
__device__ Pair operator+(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }
__device__ float length(Pair a) { return a.x + a.y; }
__device__ Pair element(const Pair* a, int i)
{
    return a[i];  //! returned: race: read-after-write
}
template <typename T> __device__ T same(T a) { return a; }
__device__ float first(float4 f) { return f.x; }

// clang-format off
#define TILE(name, T) __global__ void name(T* o, const T* a) \
{ \
    __shared__ T tile[64]; \
    const int i = threadIdx.x; \
    tile[i] = a[i];

// Neighbours read what is stored without a barrier between.
TILE(argument, Pair)
    o[i].x = length(tile[31 - i]);  //! argument: race: read-after-write
}
TILE(sum, Pair)
    o[i] = tile[i] + tile[31 - i];  //! sum: race: read-after-write
}
TILE(returned, Pair)
    o[i] = element(tile, 31 - i);
}
TILE(captured, Pair)
    auto f = [p = tile[31 - i]] { return p; };  //! captured: race: read-after-write
    o[i] = f();
}
TILE(own, Own)
    Own p = tile[31 - i];
    o[i] = p;
}
TILE(flipped, Point)
    o[i] = tile[31 - i].flipped();
}
TILE(bound, Pair)
    auto [x, y] = tile[31 - i];  //! bound: race: read-after-write
    o[i] = {y, x};
}
using Three = std::array<float, 3>;
TILE(arrays, Three)
    Three f = tile[31 - i];  //! arrays: race: read-after-write
    o[i] = f;
}
TILE(vectors, float4)
    o[i].x = first(tile[31 - i]);  //! vectors: race: read-after-write
}
// A result is stored where a neighbour has loaded.
TILE(stored, Pair)
    tile[i] = twice(tile[31 - i]);  //! stored: race: write-after-read //! stored: race: read-after-write
}
TILE(assigned, Pair)
    __syncthreads();
    Pair p = tile[31 - i];
    tile[i] = same(p);  //! assigned: race: write-after-read
    o[i] = p;
}
// The second half is never stored to.
TILE(uninitialized_argument, Pair)
    o[i].x = length(tile[i + 32]);  //! uninitialized_argument: uninitialized
}
TILE(uninitialized_sum, Pair)
    o[i] = tile[i] + tile[i + 32];  //! uninitialized_sum: uninitialized
}
TILE(uninitialized_array, Three)
    Three f = tile[i + 32];  //! uninitialized_array: uninitialized
    o[i] = f;
}

// clang-format on
template <typename T>
void run(void (*kernel)(T*, const T*))
{
    T *o, *a;
    cudaMalloc(&o, 64 * sizeof(T));
    cudaMalloc(&a, 64 * sizeof(T));
    cudaMemset((void*)a, 1, 64 * sizeof(T));
    cudaMemset((void*)o, 1, 64 * sizeof(T));
    kernel<<<1, 32>>>(o, a);
    cudaDeviceSynchronize();
    cudaFree((void*)o);
    cudaFree((void*)a);
}

int main()
{
    run(argument); run(sum); run(returned); run(captured);
    run(own); run(flipped); run(bound); run(arrays); run(vectors); run(stored);
    run(assigned); run(uninitialized_argument);
    run(uninitialized_sum); run(uninitialized_array);

}
