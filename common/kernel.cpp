#include "kernel.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/error.h"

namespace harness {

const char* name_of(Type type)
{
    switch (type) {
        case Type::i8: return "char";
        case Type::f16: return "half";
        case Type::f32: return "float";
        case Type::f64: return "double";
        case Type::i32: return "int";
        case Type::f64x2: return "double2";
    }
    return "";
}

void refuse_type()
{
    throw Error{status_bad_input, "not for elements of this type: choose --type float, double or int"};
}

bool any_on_parts()
{
    return std::any_of(kernels().begin(), kernels().end(), [](const Kernel& k) { return k.gpus > 0; });
}

void refuse_one_gpu() { throw Error{status_bad_input, "for a matrix that is spread over several GPUs"}; }

const char* name_of(Produces produces)
{
    switch (produces) {
        case Produces::copy: return "copy";
        case Produces::transpose: return "transpose";
        case Produces::tile_transpose: return "tile-local transpose";
        case Produces::tile_move: return "tile-moved copy";
        case Produces::pieces: return "copy to peers";
        case Produces::sum: return "sum";
        case Produces::sum_with_first: return "sum with x[0]";
        case Produces::nothing: return "nothing";
    }
    return "";
}

bool goes_by(const Kernel& kernel, const std::string& name)
{
    if (kernel.name == name) return true;
    std::istringstream rows(kernel.row);
    for (std::string row; rows >> row;)
        if (row == name || (name.size() == 1 && row.size() > 1 && row[0] == name[0] && isdigit(row[1]))) return true;
    return false;
}

std::vector<Kernel>& kernels()
{
    // Filled before main by the registrations of every source file, in no promised order.
    static std::vector<Kernel> all;
    return all;
}

std::vector<Erratum>& errata()
{
    static std::vector<Erratum> all;
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

Role role_of(const char* file, const std::string& row)
{
    if (row.size() > 1 && row[0] == 'E' && isdigit(row[1])) return Role::faulty;
    const std::string path(file), step = step_of(file);
    const size_t name = path.rfind('/') + 1;  // 0 without a slash
    const std::string stem = path.substr(name, path.rfind('.') - name);
    const bool in_a_step = step.compare(0, 4, "step") == 0 && step.find('_') != std::string::npos;
    return in_a_step && step.compare(0, stem.size() + 1, stem + "_") != 0 ? Role::variant : Role::lesson;
}

Kernel& add_kernel(const Named& named)
{
    Kernel& k = kernels().emplace_back();
    k.name = named.kernel;
    k.row = named.row;
    k.step = step_of(named.file);
    k.backend = named.backend;
    k.role = named.bound ? Role::bound : role_of(named.file, named.row);
    k.needs = named.needs;
    return k;
}

TransferRegistration::TransferRegistration(const Named& named, Transfer transfer)
{
    add_kernel(named).transfer = transfer;
}

ErratumEntry::ErratumEntry(const char* backend, const char* id, const char* name)
    : once_(std::string(backend) != "cuda")
{
    erratum_.id = id;
    erratum_.kernel = name;
}

ErratumEntry::~ErratumEntry() = default;

ErratumEntry& ErratumEntry::published_in(const char* source)
{
    erratum_.source = source;
    return *this;
}

ErratumEntry& ErratumEntry::caught_by(const char* finding)
{
    erratum_.caught_by = finding;
    return *this;
}

ErratumEntry& ErratumEntry::corrected_by(const char* name)
{
    erratum_.corrected = name;
    return *this;
}

ErratumEntry& ErratumEntry::shown_on(int width, int height)
{
    erratum_.width = width;
    erratum_.height = height;
    return *this;
}

ErratumEntry& ErratumEntry::with_checks(Erratum::Check faulty, Erratum::Check sound, Expected expected)
{
    erratum_.faulty_check = faulty;
    erratum_.sound_check = sound;
    erratum_.expected = expected;
    return *this;
}

ErratumEntry& ErratumEntry::with_methods(Erratum::Method faulty, Erratum::Method sound)
{
    erratum_.faulty_method = faulty;
    erratum_.sound_method = sound;
    erratum_.caught_by = "bad-method";
    return *this;
}

ErratumEntry& ErratumEntry::story(const char* text)
{
    erratum_.story = text;
    return *this;
}

ErratumRegistration::ErratumRegistration(const ErratumEntry& entry)
{
    if (entry.once_) errata().push_back(entry.erratum_);
}

bool Launch::operator==(const Launch& other) const
{
    return kernel == other.kernel && std::equal(grid, grid + 3, other.grid) &&
           std::equal(block, block + 3, other.block) && arguments == other.arguments;
}

void check_launch(const Launch& launch)
{
    const auto refuse = [](const char* what, unsigned asked, unsigned limit, const char* instead) {
        throw Error{status_bad_input, format("the kernel asks for %u %s, and CUDA launches 1 to %u: %s", asked, what,
                                             limit, asked ? instead : "round up where you divide to get this number")};
    };
    const char* const fewer = "choose another matrix shape, or a kernel with fewer of them";
    const char* const smaller = "choose a smaller block";
    const unsigned grid_limits[] = {2147483647, 65535, 65535}, block_limits[] = {1024, 1024, 64};
    const char* const blocks[] = {"blocks in x", "blocks in y", "blocks in z"};
    const char* const threads[] = {"threads in x", "threads in y", "threads in z"};
    for (int i = 0; i < 3; ++i) {
        if (launch.grid[i] < 1 || launch.grid[i] > grid_limits[i])
            refuse(blocks[i], launch.grid[i], grid_limits[i], fewer);
        if (launch.block[i] < 1 || launch.block[i] > block_limits[i])
            refuse(threads[i], launch.block[i], block_limits[i], smaller);
    }
    const unsigned long long all = 1ull * launch.block[0] * launch.block[1] * launch.block[2];
    if (all > 1024) refuse("threads in a block", unsigned(all), 1024, smaller);
}

void check_bound(const Launch& launch, unsigned threads)
{
    const unsigned asked = launch.block[0] * launch.block[1] * launch.block[2];
    if (threads && asked > threads)
        throw Error{status_bad_input, format("the kernel asks for %u threads in a block, and its __launch_bounds__ "
                                             "allows %u: choose a smaller block, or a larger bound",
                                             asked, threads)};
}

}  // namespace harness
