// The kernels of a program: what each is called, what it must produce, how it is launched.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "exchange.h"
#include "parts.h"
#include "reference.h"

namespace harness {

constexpr Type all_types[] = {Type::i8, Type::f16, Type::f32, Type::f64, Type::i32, Type::f64x2};
constexpr int types = sizeof all_types / sizeof *all_types;

// Stands in for a kernel's launcher where the kernel is not for that type.
[[noreturn]] void refuse_type();
// Stands in for it where one GPU is to run a kernel for several.
[[noreturn]] void refuse_one_gpu();

const char* name_of(Type type);          // char, half, float, ...
const char* name_of(Produces produces);  // copy, transpose, tile-local transpose, ...

// Threads of a block. 0 x 0: those that the kernel's launcher sets.
struct Block {
    unsigned x = 0, y = 0;
};

// A step's lesson is what it shows by itself; --all shows its variants, too. A bound moves what any kernel of several
// GPUs must move, and nothing else: GPUs time it with the lesson. Faulty kernels are run by --errata, or by name.
enum class Role { lesson, variant, bound, faulty };

// The way in which the GPUs of a kernel exchange data: by access to each other's memory, or by messages.
enum class Needs { peers, messages };

// A copy between host and device, which takes the place of a kernel.
struct Transfer {
    enum Way { none, to_device, to_host } way = none;
    bool pinned = false;
};

// A contender in a process of its own, on matrices of its own there: a library of another language.
class Peer {
public:
    virtual ~Peer() = default;
    // Why it cannot take part; empty if it can.
    virtual std::string absent() = 0;
    // ms of so many passes in all, on so many pairs of matrices in turn. Throws status_wrong_result if any result is
    // wrong, status_bad_input if the peer gives none.
    virtual double time_ms(Type type, int width, int height, int buffers, int passes) = 0;
    virtual void release() = 0;  // its matrices
};

// One kernel as one back end compiled it; or a function of the CPU, a transfer, or a peer.
struct Kernel {
    std::string name;     // of the __global__ function
    std::string row;      // in the table of sources: W1, or F4 F9
    std::string step;     // the folder of the file that defines it
    std::string backend;  // cuda, sim or cpu
    Role role = Role::lesson;
    Expected expected = copies;
    Block block;  // of a kernel that --block applies to: the one it has by default
    // Enqueues one pass from idata (height x width) to odata, one launcher per Type. Throws bad input if the kernel is
    // not for that type.
    using Launcher = void (*)(void* odata, const void* idata, int width, int height, Block block);
    Launcher launch[types] = {};
    Transfer transfer;
    Peer* peer = nullptr;
    // Launchers of a kernel that several GPUs run, each on its rows. One enqueues the pass of GPU `me`, the other that
    // of all GPUs of this process. odata, idata: the address of each GPU's rows.
    using PartLauncher = void (*)(void* const* odata, const void* const* idata, int width, int height, int me,
                                  int gpus);
    using TogetherLauncher = void (*)(Exchange& exchange, void* const* odata, const void* const* idata, int width,
                                      int height);
    PartLauncher launch_on_parts[types] = {};
    TogetherLauncher launch_together[types] = {};  // null: each GPU has a pass of its own
    int gpus = 0;  // number of GPUs; 0: one GPU runs it on the whole matrix
    Needs needs = Needs::peers;
};

constexpr int usual_gpus = 4;  // on the simulator

// True if the command line may call a kernel by this: its name, a row of its source (B7), or the letter of a source (B:
// all of its rows).
bool goes_by(const Kernel& kernel, const std::string& name);

// Every kernel linked into this program, in the order of its source files.
std::vector<Kernel>& kernels();
// True if one of them is for several GPUs.
bool any_on_parts();

// A published fault: the fault itself, the check that finds it, and how much of the published conclusion remains.
struct Erratum {
    std::string id;         // E1, ...
    std::string source;     // where it was published
    std::string kernel;     // the faulty kernel of ours; or the name of `faulty_check`
    std::string caught_by;  // the id of the finding that catches it: race, wrong-result, ... (base/finding_kinds.h)
    std::string corrected;  // a kernel, or the name of `sound_check`, that does it right
    int width = 0, height = 0;  // of a matrix that shows it
    std::string story;
    // Or checks of results instead of kernels, on the host and on floats: they say whether odata is right.
    using Check = bool (*)(const float* odata, const float* idata, int width, int height);
    Expected expected = transposes;
    Check faulty_check = nullptr, sound_check = nullptr;
    // Or published figures, checked against facts: the fault as a text, empty if there is none.
    using Method = std::string (*)();
    Method faulty_method = nullptr, sound_method = nullptr;
};

std::vector<Erratum>& errata();

// The step of a source path: step04_padding for step04_padding/step04.cu.
std::string step_of(const char* file);
// A kernel is faulty if its row is that of an erratum: E7. A lesson is in the file that is named like the program:
// step04_padding/step04.cu. Files of no step hold nothing but lessons.
Role role_of(const char* file, const std::string& row = "");

// How a kernel is called, and where it is defined.
struct Named {
    const char *kernel, *row, *backend, *file;
    bool bound = false;  // see Role
    Needs needs = Needs::peers;
};

// Adds a kernel with these names, and nothing to launch yet, to kernels(). The reference holds until the next is added.
Kernel& add_kernel(const Named& named);

// Registers a kernel at program start: Pass::run<T> launches one pass of it. Elements: what stands for each Type in its
// source, or void: the kernel is not for it. Kernels that add elements are for those that C++ adds.
template <typename Pass, typename... Elements>
struct Registration {
    static_assert(sizeof...(Elements) == types);

    template <typename T>
    static void launch(void* odata, const void* idata, int width, int height, Block block)
    {
        constexpr bool number =
            std::is_arithmetic_v<T> && !std::is_same_v<T, unsigned short>;  // which stands for a half
        if constexpr (std::is_void_v<T> || (Pass::expected.operands() > 1 && !number)) refuse_type();
        else if constexpr (on_parts<T>()) refuse_one_gpu();
        else Pass::run(static_cast<T*>(odata), static_cast<const T*>(idata), width, height, block);
    }

    // The launchers of kernels for several GPUs. Each GPU stores to the others' rows of odata, or loads from theirs of
    // idata, or all of them enqueue their work together.
    template <typename T, typename P, typename... Given>
    static constexpr auto takes(int) -> decltype(P::template call<T>(std::declval<Given>()...), bool()) { return true; }
    template <typename T, typename P, typename... Given>
    static constexpr bool takes(long) { return false; }
    template <typename T>
    static constexpr bool stores_to_parts() { return takes<T, Pass, Parts<T>, const T*, int, int, int, int>(0); }
    template <typename T>
    static constexpr bool loads_from_parts() { return takes<T, Pass, T*, Parts<const T>, int, int, int, int>(0); }
    template <typename T>
    static constexpr bool together() { return takes<T, Pass, Exchange&, Parts<T>, Parts<const T>, int, int>(0); }
    template <typename T>
    static constexpr bool on_parts()
    {
        if constexpr (std::is_void_v<T>) return false;
        else return stores_to_parts<T>() || loads_from_parts<T>() || together<T>();
    }

    template <typename T>
    static Parts<T> parts_at(typename std::conditional_t<std::is_const_v<T>, const void, void>* const* rows)
    {
        Parts<T> parts{};
        for (int g = 0; g < MAX_GPUS; ++g) parts.part[g] = static_cast<T*>(rows[g]);
        return parts;
    }

    template <typename T>
    static void launch_on_parts(void* const* odata, const void* const* idata, int width, int height, int me, int gpus)
    {
        if constexpr (!on_parts<T>()) {
            refuse_type();
        } else if constexpr (together<T>()) {
            refuse_one_gpu();
        } else if constexpr (stores_to_parts<T>()) {
            Pass::template call<T>(parts_at<T>(odata), static_cast<const T*>(idata[me]), width, height, me, gpus);
        } else {
            Pass::template call<T>(static_cast<T*>(odata[me]), parts_at<const T>(idata), width, height, me, gpus);
        }
    }

    template <typename T>
    static void launch_together(Exchange& exchange, void* const* odata, const void* const* idata, int width, int height)
    {
        Pass::template call<T>(exchange, parts_at<T>(odata), parts_at<const T>(idata), width, height);
    }

    template <typename T>
    static constexpr Kernel::TogetherLauncher together_launcher()
    {
        if constexpr (std::is_void_v<T>) return nullptr;
        else if constexpr (together<T>()) return launch_together<T>;
        else return nullptr;
    }

    explicit Registration(const Named& named, Block block = {})
    {
        Kernel& k = add_kernel(named);
        k.expected = Pass::expected;
        k.block = block;
        k.gpus = (on_parts<Elements>() || ...) ? usual_gpus : 0;
        int type = 0;
        ((k.launch[type] = launch<Elements>, k.launch_on_parts[type] = launch_on_parts<Elements>,
          k.launch_together[type] = together_launcher<Elements>(), ++type), ...);
    }
};

// Registers a copy between host and device.
struct TransferRegistration {
    TransferRegistration(const Named& named, Transfer transfer);
};

// An Erratum while it is described: ERRATUM(kernel, E7).published_in("book 9.5"). ... .story("Published: ...");
class ErratumEntry {
public:
    // `name`: of the faulty kernel, or of the check or the method that takes its place.
    ErratumEntry(const char* backend, const char* id, const char* name);
    ~ErratumEntry();

    ErratumEntry& published_in(const char* source);
    ErratumEntry& caught_by(const char* finding);       // the id of the finding that catches it
    ErratumEntry& corrected_by(const char* name);       // of the kernel, check or method that does it right
    ErratumEntry& shown_on(int width, int height);      // a matrix that shows it
    ErratumEntry& with_checks(Erratum::Check faulty, Erratum::Check sound, Expected expected);
    ErratumEntry& with_methods(Erratum::Method faulty, Erratum::Method sound);
    ErratumEntry& story(const char* text);              // what was published, what is wrong, what remains

private:
    friend struct ErratumRegistration;
    bool once_;  // Its source file may be compiled for two back ends. One of them registers it.
    Erratum erratum_;
};

// Registers a fault for errata().
struct ErratumRegistration {
    ErratumRegistration(const ErratumEntry& entry);
};

// A launch as the hardware sees it.
struct Launch {
    const void* kernel = nullptr;
    unsigned grid[3] = {}, block[3] = {};
    uint64_t arguments = 0;  // a hash of them
    bool operator==(const Launch& other) const;
};

// Throws bad input if CUDA cannot launch such a grid. The simulator keeps to the same limits: a kernel that runs there
// runs on the hardware.
void check_launch(const Launch& launch);

// Throws bad input if the launch has more threads in a block than this, unless it is 0: see __launch_bounds__.
void check_bound(const Launch& launch, unsigned threads);

}  // namespace harness
