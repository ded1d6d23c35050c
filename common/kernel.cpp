#include "kernel.h"

#include "error.h"

namespace harness {

const char* name_of(Type type)
{
    switch (type) {
        case Type::f32: return "float";
        case Type::f64: return "double";
        case Type::i32: return "int";
    }
    return "";
}

const char* name_of(Produces produces)
{
    switch (produces) {
        case Produces::copy: return "copy";
        case Produces::transpose: return "transpose";
        case Produces::tile_transpose: return "tile-local transpose";
        case Produces::tile_move: return "tile-moved copy";
    }
    return "";
}

std::vector<Kernel>& kernels()
{
    // Filled before main by the registrations of every source file, in no promised order.
    static std::vector<Kernel> all;
    return all;
}

std::string step_of(const char* file)
{
    const std::string path(file);
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return path.substr(0, path.rfind('.'));
    const size_t before = path.rfind('/', slash - 1);
    return path.substr(before == std::string::npos ? 0 : before + 1,
                       slash - (before == std::string::npos ? 0 : before + 1));
}

void check_launch(unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z)
{
    const auto refuse = [](const char* what, unsigned asked, unsigned limit) {
        throw Error{status_bad_input, format("the kernel asks for %u %s, and CUDA launches 1 to %u: "
                                             "choose another matrix shape", asked, what, limit)};
    };
    const auto check = [&](const char* what, unsigned asked, unsigned limit) {
        if (asked < 1 || asked > limit) refuse(what, asked, limit);
    };
    check("blocks in x", grid_x, 2147483647);
    check("blocks in y", grid_y, 65535);
    check("blocks in z", grid_z, 65535);
    check("threads in x", block_x, 1024);
    check("threads in y", block_y, 1024);
    check("threads in z", block_z, 64);
    const unsigned long long threads = 1ull * block_x * block_y * block_z;
    if (threads > 1024) refuse("threads in a block", unsigned(threads), 1024);
}

}  // namespace harness
