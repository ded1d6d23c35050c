// Objects that functions of the host return by name. Their classes free something in the destructor and have no
// copy constructor: each destructor runs once per object, as where compilers build the object in its place.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static int made, destroyed;

struct Buffer {
    float* data;
    Buffer() : data(new float[1]()) { ++made; }
    explicit Buffer(int n) : data(new float[n]()) { ++made; }
    Buffer(int n, float value) : Buffer(n) { data[0] = value; }
    ~Buffer()
    {
        delete[] data;
        ++destroyed;
    }
};
template <typename T>
struct Device {
    T* data = nullptr;
    std::string name;
    explicit Device(int n, const char* called = "a name that is too long to lie in the string itself") : name(called)
    {
        ++made;
        cudaMalloc(&data, n * sizeof(T));
    }
    ~Device()
    {
        cudaFree(data);
        ++destroyed;
    }
};
struct Both {
    Buffer first, second;
    Both(int n) : first(n), second(n) {}
};
struct Late : Buffer {
    int n = 3;
};
namespace inner {
class Matrix {
public:
    Matrix(int r, int c) : rows(r), columns(c), data(static_cast<float*>(std::calloc(r * c, sizeof(float)))) { ++made; }
    ~Matrix()
    {
        std::free(data);
        ++destroyed;
    }
    static Matrix square(int n)
    {
        Matrix m(n, n);
        for (int i = 0; i < n; ++i) m.data[i * n + i] = 1;
        return m;
    }
    Matrix transposed() const
    {
        Matrix t{columns, rows};
        for (int i = 0; i < rows * columns; ++i) t.data[i % columns * rows + i / columns] = data[i];
        return t;
    }
    int rows, columns;
    float* data;
};
}
struct Copied {  // with a copy constructor: it is none of these
    std::vector<float> v;
    Copied(const Copied&) = default;
    explicit Copied(int n) : v(n) {}
    ~Copied() {}
};

Buffer by_name(int n)
{
    Buffer b(n);
    b.data[0] = 3;
    return b;
}
Buffer by_default()
{
    Buffer b;
    return b;
}
Buffer braces(int n) { Buffer b{n, 4}; return b; }
Buffer from_a_function(int n) { Buffer b = by_name(n); b.data[0] += 1; return b; }
Buffer automatic(int n) { auto b = by_name(n); return b; }
auto deduced(int n) { auto b = Buffer(n, 5); return b; }
Buffer early(int n)
{
    Buffer b(n);
    if (n > 2) return b;
    b.data[0] = 7;
    return b;
}
Buffer another(int n)
{
    Buffer b(n);
    if (n > 2) return Buffer(n, 8);
    return b;
}
Buffer in_a_block(int n)
{
    if (n > 2) {
        const Buffer b(n, 9);
        return b;
    }
    return Buffer();
}
Buffer across(int n)
{
    Buffer b(
        n,
        6);
    printf("line %d\n", __LINE__);
    return b;
}
template <typename T> Device<T> on_device(int n)
{
    Device<T> d(n);
    d.name += "!";
    return d;
}
Both two(int n) { Both b(n); return b; }
Late late() { Late l; l.n = 4; return l; }
Copied copied(int n) { Copied c(n); return c; }

__global__ void fill(float* p) { p[threadIdx.x] = 1; }

int main()
{
    {
        Buffer a = by_name(4), b = by_default(), c = braces(4), d = from_a_function(4), e = automatic(4);
        Buffer f = deduced(4), g = early(4), h = early(1);
        Buffer i = another(4), j = another(1), k = in_a_block(4), l = across(4);
        for (const Buffer* x : {&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l}) printf("%g ", x->data[0]);
        printf("\n");
        const Device<float> m = on_device<float>(32);
        fill<<<1, 32>>>(m.data);
        cudaDeviceSynchronize();
        inner::Matrix n = inner::Matrix::square(3), o = n.transposed();
        auto make = [](int n) {
            Buffer b(n, 2);
            return b;
        };
        Buffer p = make(3);
        Both q = two(3);
        Late r = late();
        printf("%s %g %g %d %zu\n", m.name.c_str() + 48, o.data[4], p.data[0], r.n, copied(3).v.size());
    }
    printf("made %d, destroyed %d\n", made, destroyed);
}
