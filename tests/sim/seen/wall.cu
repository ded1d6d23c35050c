// What belongs to the device, and the host uses by its name or its address.
#include <vector>

#include "cases.h"

struct Pair { int a, b; };
__device__ int g = 3;
__device__ int many[64];
__device__ Pair pair = {1, 2};
__constant__ int c;
__constant__ float coefficients[8];
static __device__ double own = 1.5;
namespace inner { __device__ int n; }
inline __device__ int everywhere = 4;
__device__ __managed__ int managed = 5;
__device__ const int fixed = 6;
__constant__ const float table[4] = {1, 2, 3, 4};
__device__ int* to_many = many;
int host_array[64];
const int host_table[4] = {1, 2, 3, 4};

__global__ void see(int* out) { out[0] = g + c + everywhere + inner::n + int(own) + pair.a + many[1] + managed; }
__global__ void add(int* p) { p[threadIdx.x] += 1; }
__global__ void load(int* out, const int* p) { out[threadIdx.x] = p[threadIdx.x]; }

// ---- Names that the host reads or writes.

CASE(store) { g = 5; }  //! host-access: byte 0 of g, at .* copy it with cudaMemcpyToSymbol
CASE(read) { if (g == 3) exit(5); }  //! host-access: byte 0 of g, at .* copy it with cudaMemcpyFromSymbol
CASE(constant_store) { c = 1; }  //! host-access: byte 0 of c,
CASE(constant_read) { exit(coefficients[3] == 0 ? 5 : 6); }  //! host-access: byte 12 of coefficients
CASE(of_a_namespace) { ++inner::n; }  //! host-access: byte 0 of n
CASE(member) { pair.b = 1; }  //! host-access: byte 4 of pair
CASE(by_the_library) { int h[64] = {}; memcpy(many, h, 16); }  //! host-access: byte 0 of many
CASE(as_an_argument) {
    int* o = device<int>(1);
    load<<<1, g>>>(o, o);  //! host-access: byte 0 of g
}
CASE(memory) { device<int>(8)[2] = 1; }  //! host-access: byte 8 of memory

CASE(right_symbols) {
    int h = 7, n[64] = {0, 2}, *o = device<int>(1), got = 0;
    cudaMemcpyToSymbol(g, &h, 4);
    cudaMemcpyToSymbol(c, &h, 4);
    cudaMemcpyToSymbol(many, n, sizeof many);
    see<<<1, 1>>>(o);
    cudaMemcpy(&got, o, 4, cudaMemcpyDeviceToHost);
    if (got != 7 + 7 + 4 + 0 + 1 + 1 + 2 + 5) exit(5);
    cudaMemcpyFromSymbol(&got, inner::n, 4);
    if (got || sizeof many != 256) exit(6);
    cudaFree(o);
}
CASE(right_managed) {
    int* o = device<int>(1);
    managed = 6;
    see<<<1, 1>>>(o);
    done();
    if (managed != 6 || fixed != 6 || table[2] != 3) exit(5);
    cudaFree(o);
}

// ---- Names as pointers.

int h[64];
//! bad-copy: destination is many.*cudaMemcpyToSymbol
CASE(copied_to) { cudaMemcpy(many, h, 16, cudaMemcpyHostToDevice); }
//! bad-copy: destination is coefficients
CASE(copied_constant) { cudaMemcpy(coefficients, h, 4, cudaMemcpyHostToDevice); }
CASE(filled) { cudaMemset(many, 0, 16); }  //! bad-copy: destination is many

struct Holder { int n; int* p; };
//! in argument, address: host-pointer: the address of many .*cudaGetSymbolAddress
__global__ void passed(int* p) { p[threadIdx.x] += 1; }
__global__ void held(Holder t) { t.p[t.n] = 1; }  //! in by_value: host-pointer: the address of many
__global__ void far(const Holder* t) { t->p[t->n] = 1; }  //! in by_copy: host-pointer: the address of g
//! in of_host, of_constant: host-pointer: address of (host_array|host_table|table)
__global__ void first(int* o, const int* p) { *o = *p; }
__global__ void letter(int* o, const char* p) { *o = p[1]; }  //! in literal: host-pointer: address of a constant
__global__ void through(int** p) { *p[1] = 2; }  //! in of_pointers: host-pointer: the address of g
CASE(argument) { passed<<<1, 4>>>(many); done_badly(); }
CASE(address) { passed<<<1, 1>>>(&many[0]); done_badly(); }
CASE(by_value) { held<<<1, 1>>>({1, many}); done_badly(); }
CASE(by_copy) {
    const Holder t = {0, &g};
    Holder* d = device<Holder>(1);
    cudaMemcpy(d, &t, sizeof t, cudaMemcpyHostToDevice);
    far<<<1, 1>>>(d);
    done_badly();
}
CASE(of_pointers) {
    int* all[2] = {nullptr, &g};
    int** d = device<int*>(2);
    cudaMemcpy(d, all, sizeof all, cudaMemcpyHostToDevice);
    through<<<1, 1>>>(d);
    done_badly();
}
CASE(of_host) { first<<<1, 1>>>(device<int>(1), host_array); done_badly(); }
CASE(of_constant) { first<<<1, 1>>>(device<int>(1), (const int*)table); done_badly(); }
CASE(literal) { letter<<<1, 1>>>(device<int>(1), "text"); done_badly(); }

__global__ void tell(int** p) { *p = many + 2; }
__global__ void by_name(int* o) { o[0] = to_many[3] + *&many[3]; }
CASE(right_addresses) {
    int *p = nullptr, **told = device<int*>(1), *o = device<int>(1), got[8] = {};
    cudaGetSymbolAddress((void**)&p, many);
    cudaMemset(p, 0, sizeof many);
    passed<<<1, 8>>>(p);
    held<<<1, 1>>>({2, p});
    cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost);
    if (got[0] != 1 || got[2] != 1 || got[7] != 1) exit(5);
    by_name<<<1, 1>>>(o);
    cudaMemcpy(got, o, 4, cudaMemcpyDeviceToHost);
    if (got[0] != 2) exit(6);
    tell<<<1, 1>>>(told);
    cudaMemcpy(&p, told, sizeof p, cudaMemcpyDeviceToHost);
    passed<<<1, 1>>>(p);
    const Holder t = {1, p};
    Holder *d = device<Holder>(1), back;
    cudaMemcpy(d, &t, sizeof t, cudaMemcpyHostToDevice);
    far<<<1, 1>>>(d);
    const Holder mine = {0, host_array};
    cudaMemcpy(d, &mine, sizeof mine, cudaMemcpyHostToDevice);
    cudaMemcpy(&back, d, sizeof back, cudaMemcpyDeviceToHost);
    if (back.p != host_array) exit(7);
    cudaFree(told);
    cudaFree(o);
    cudaFree(d);
}
CASE(right_registered) {
    cudaHostRegister(host_array, sizeof host_array, cudaHostRegisterMapped);
    passed<<<1, 4>>>(host_array);
    passed<<<1, 1>>>(&managed);
    done();
    cudaHostUnregister(host_array);
    if (host_array[3] != 1) exit(5);
}

// ---- Functions.

struct Shape {
    int size = 2;
    __host__ __device__ virtual int area() const { return size; }
    __host__ __device__ virtual ~Shape() {}
};
struct Square : Shape {
    __host__ __device__ int area() const override { return size * size; }
};
//! in object: host-pointer: vtable for (Shape|Square).* make the object in a kernel
__global__ void measure(int* o, Shape* s) { o[0] = s->area(); }
//! in objects: host-pointer: vtable for Square
__global__ void measure_all(int* o, Shape** s) { for (int i = 0; i < 2; ++i) o[i] = s[i]->area(); }
__global__ void make(Shape** s) { *s = new Square; }
__global__ void unmake(Shape** s) { delete *s; }
CASE(object) {
    Shape s;
    Shape* d = device<Shape>(1);
    cudaMemcpy((void*)d, (void*)&s, sizeof s, cudaMemcpyHostToDevice);
    measure<<<1, 1>>>(device<int>(1), d);
    done_badly();
}
CASE(objects) {
    std::vector<Square> s(2);
    Square* d = device<Square>(2);
    cudaMemcpy((void*)d, (void*)s.data(), 2 * sizeof(Square), cudaMemcpyHostToDevice);
    Shape* all[2] = {d, d + 1};
    Shape** p = device<Shape*>(2);
    cudaMemcpy(p, all, sizeof all, cudaMemcpyHostToDevice);
    measure_all<<<1, 1>>>(device<int>(2), p);
    done_badly();
}
CASE(right_objects) {
    Shape **d = device<Shape*>(1), *p = nullptr;
    int *o = device<int>(1), got = 0;
    make<<<1, 1>>>(d);
    cudaMemcpy(&p, d, sizeof p, cudaMemcpyDeviceToHost);
    measure<<<1, 1>>>(o, p);
    unmake<<<1, 1>>>(d);
    cudaMemcpy(&got, o, 4, cudaMemcpyDeviceToHost);
    if (got != 4) exit(5);
    alignas(Square) char there[sizeof(Square)];
    Square s, *copy = device<Square>(1);
    cudaMemcpy((void*)copy, (void*)&s, sizeof s, cudaMemcpyHostToDevice);
    cudaMemcpy(there, (void*)copy, sizeof s, cudaMemcpyDeviceToHost);
    if (((Shape*)there)->area() != 4) exit(6);
    cudaFree(d);
    cudaFree(o);
    cudaFree(copy);
}

typedef int (*Function)(int);
__device__ int twice(int i) { return 2 * i; }
__device__ Function to_twice = twice;
__device__ Function chosen;
__constant__ Function fixed_one;
struct Named { int n; Function f; };
//! in function: host-pointer: the address of twice.* take it in device code
__global__ void call(int* o, Function f) { o[0] = f(3); }
//! in function_held: host-pointer: the address of twice
__global__ void call_held(int* o, Named t) { o[0] = t.f(t.n); }
//! in function_copied: host-pointer: the address of twice
__global__ void call_copied(int* o, Named* t) { o[0] = t->f(t->n); }
__global__ void call_chosen(int* o) { o[0] = chosen(4); }  //! in function_to_symbol: host-pointer: the address of twice
//! in function_to_constant: host-pointer: the address of twice
__global__ void call_fixed(int* o) { o[0] = fixed_one(4); }
CASE(function) { call<<<1, 1>>>(device<int>(1), twice); done_badly(); }
CASE(function_held) { call_held<<<1, 1>>>(device<int>(1), {3, twice}); done_badly(); }
CASE(function_copied) {
    const Named t = {3, twice};
    Named* d = device<Named>(1);
    cudaMemcpy(d, &t, sizeof t, cudaMemcpyHostToDevice);
    call_copied<<<1, 1>>>(device<int>(1), d);
    done_badly();
}
CASE(function_to_symbol) {
    const Function f = twice;
    cudaMemcpyToSymbol(chosen, &f, sizeof f);
    call_chosen<<<1, 1>>>(device<int>(1));
    done_badly();
}
CASE(function_to_constant) {
    const Function f = twice;
    cudaMemcpyToSymbol(fixed_one, &f, sizeof f);
    call_fixed<<<1, 1>>>(device<int>(1));
    done_badly();
}
CASE(right_functions) {
    Function f = nullptr;
    int *o = device<int>(1), got = 0;
    cudaMemcpyFromSymbol(&f, to_twice, sizeof f);
    call<<<1, 1>>>(o, f);
    cudaMemcpy(&got, o, 4, cudaMemcpyDeviceToHost);
    if (got != 6) exit(5);
    cudaMemcpyToSymbol(chosen, &f, sizeof f);
    call_chosen<<<1, 1>>>(o);
    cudaMemcpy(&got, o, 4, cudaMemcpyDeviceToHost);
    if (got != 8) exit(6);
    cudaFree(o);
}
