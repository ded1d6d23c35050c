// Indices past the end of local arrays, next to other accesses of the same line. The comments are those of
// ends.cu. n is 0.
struct Pair { float x, y; };
struct Box { float data[4]; int more; };

#define KERNEL(name) __global__ void name(float* o, int n)
#define I const int i = threadIdx.x

KERNEL(loads) { I;
    __shared__ float tile[16][16];
    for (int k = 0; k < 256; k += 32) tile[0][i + k] = 1;
    __syncthreads();
    float own[4] = {1, 2, 3, o[i]};
    int at[4] = {0, 1, 2, int(o[i])};
    if (i == 1) o[i] = own[n - 1];  //! index -1 of a local array, 'float ?\[4\]'
    if (i == 2) o[i] = tile[0][i] + own[n + 5];  //! index 5 of a local array, 'float ?\[4\]'
    if (i == 3) o[i] = own[n + 6] + tile[0][i];  //! index 6 of a local array, 'float ?\[4\]'
    if (i == 4) o[i] = own[n + 4] * own[n + 3] + o[i + 32];  //! index 4 of a local array, 'float ?\[4\]'
    if (i == 6) o[i] = own[at[n + 7]];  //! index 7 of a local array, 'int ?\[4\]'
    if (i == 7) o[i] = own[at[n + 2] + 2];  //! index 4 of a local array, 'float ?\[4\]'
    if (i == 10) {
        const int k = at[n + 4];  //! index 4 of a local array, 'int ?\[4\]'
        o[min(max(k, i), i)] = 1;
    }
    if (i == 11 && own[n + 4] > -1)  //! index 4 of a local array, 'float ?\[4\]'
        o[i] = 1;
    for (int k = 0; k <= 4; ++k) if (i == 12) o[i] += own[k + n];  //! index 4 of a local array, 'float ?\[4\]'
}
KERNEL(stores) { I;
    __shared__ float tile[16][16];
    for (int k = 0; k < 256; k += 32) tile[0][i + k] = 1;
    __syncthreads();
    float own[4] = {1, 2, 3, o[i]};
    int at[4] = {0, 1, 2, 3};
    if (i == 1) own[n - 1] = 1;  //! index -1 of a local array, 'float ?\[4\]'
    if (i == 3) own[n + 4] = o[i] + o[i + 32];  //! index 4 of a local array, 'float ?\[4\]'
    if (i == 4) own[n + 4] += 1;  //! index 4 of a local array, 'float ?\[4\]'
    if (i == 7) own[at[n + 3] + 1] = 1;  //! index 4 of a local array, 'float ?\[4\]'
    if (i == 9) own[at[n + 5]] = 1;  //! index 5 of a local array, 'int ?\[4\]'
    if (i == 10) at[n + 4] = int(own[n + 1]);  //! index 4 of a local array, 'int ?\[4\]'
    for (int k = 0; k <= 4; ++k) if (i == 11) own[k + n] = o[i];  //! index 4 of a local array, 'float ?\[4\]'
    o[i] = own[i % 4] + at[i % 4];
}
KERNEL(rows) { I;
    float own[3][4];
    for (int k = 0; k < 12; ++k) own[k / 4][k % 4] = o[i];
    if (i == 0) own[n + 3][0] = 1;  //! index 3 of a local array, 'float ?\[3\]\[4\]'
    if (i == 1) own[2][n + 4] = 1;  //! index 4 of a local array, 'float ?\[4\]'
    if (i == 3) o[i] = own[n - 1][3];  //! index -1 of a local array, 'float ?\[3\]\[4\]'
    if (i == 4) own[n + 3][n + 4] = o[i];  //! index [34] of a local array, 'float ?(\[3\])?\[4\]'
    o[i] = own[i % 3][i % 4];
}
KERNEL(structures) { I;
    Pair own[4] = {{1, 2}, {3, o[i]}};
    Box box = {{1, 2, 3, o[i]}, 5};
    Box boxes[2] = {box, box};
    if (i == 0) own[n + 4].x = 1;  //! index 4 of a local array, 'Pair ?\[4\]'
    if (i == 2) box.data[n + 4] = 1;  //! index 4 of a local array, 'float ?\[4\]'
    if (i == 3) o[i] = box.data[n - 1];  //! index -1 of a local array, 'float ?\[4\]'
    if (i == 5) boxes[n + 1].data[n + 4] = 1;  //! index 4 of a local array, 'float ?\[4\]'
    if (i == 6) own[n + 5] = own[n];  //! index 5 of a local array, 'Pair ?\[4\]'
    o[i] = own[i % 4].x + box.data[i % 4] + boxes[i % 2].data[i % 4] + box.more;
}
template <typename T, int N>
__device__ T sum(T* o, int n, int i)
{
    T own[N];
    for (int k = 0; k < N; ++k) own[k] = o[i];
    if (i == 0) own[n + N] = 1;  //! index 8 of a local array, 'float ?\[8\]'
    T s = 0;
    for (int k = 0; k <= N - n; ++k)
        if (i == 1) s += own[k];  //! index 8 of a local array, 'float ?\[8\]'
    return s + own[i % N];
}
KERNEL(called) { I;
    o[i] = sum<float, 8>(o, n, i);
}
KERNEL(lambdas) { I;
    float own[4] = {1, 2, 3, o[i]};
    auto get = [&](int k) {
        return own[k];  //! index 4 of a local array, 'float ?\[4\]'
    };
    auto put = [=](int k) mutable {
        own[k] = 1;  //! index -1 of a local array, 'float ?\[4\]'
        return own[0];
    };
    if (i == 0) o[i] = get(n + 4);
    if (i == 1) o[i] = put(n - 1);
}
// The next thread is not blamed.
KERNEL(one_thread) { I;
    float own[4] = {1, 2, 3, o[i]};
    if (i == 7) own[n + 4] = 2;  //! index 4 of a local array.*thread \(7, 0, 0\).*block \(0, 0, 0\)$
    o[i] = own[i % 4];
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
    run(loads); run(stores); run(rows); run(structures); run(called); run(lambdas); run(one_thread);
}
