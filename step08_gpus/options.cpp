#include "options.h"

#include <getopt.h>

#include "../common/base/error.h"
#include "../common/base/machine.h"
#include "../sim/core/devices.h"
#include "links.h"

using namespace harness;

namespace {

constexpr int most_reps = 100000;
constexpr int most_patience_s = 86400;

}  // namespace

CommandLine parse(int argc, char** argv)
{
    enum { size = 1, gpus, type, reps, device, kernel, all, once, explain, machine, link, patience, csv, list, help };
    static const option known[] = {{"size", required_argument, nullptr, size},       {"gpus", required_argument, nullptr, gpus},
                                   {"type", required_argument, nullptr, type},       {"reps", required_argument, nullptr, reps},
                                   {"device", required_argument, nullptr, device},   {"kernel", required_argument, nullptr, kernel},
                                   {"all", no_argument, nullptr, all},               {"once", no_argument, nullptr, once},
                                   {"explain", no_argument, nullptr, explain},       {"machine", required_argument, nullptr, machine},
                                   {"link", required_argument, nullptr, link},       {"csv", required_argument, nullptr, csv},
                                   {"patience", required_argument, nullptr, patience},
                                   {"list", no_argument, nullptr, list},             {"help", no_argument, nullptr, help},
                                   {nullptr, 0, nullptr, 0}};
    CommandLine o;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":", known, nullptr)) != -1;) {
        switch (c) {
            case size:
                for (const Shape& shape : shapes_in(optarg)) o.shapes.push_back(shape);
                break;
            case gpus: o.gpus = whole_number("gpus", optarg, sim::most_devices); break;
            case type: o.type = type_named(optarg); break;
            case reps: o.reps = whole_number("reps", optarg, most_reps); break;
            case device: o.device = device_named(optarg); break;
            case kernel:
                for (const std::string& name : split(optarg, ',')) o.kernels.push_back(name);
                break;
            case all: o.all = true; break;
            case once: o.once = true; break;
            case explain: o.explain = true; break;
            case machine: o.machine = machine_named(optarg).name; break;
            case link: o.link = link_named(optarg).name; break;
            case patience: o.patience_s = whole_number("patience", optarg, most_patience_s); break;
            case csv: o.csv = file_named("csv", optarg); break;
            case list: o.list = true; break;
            case help: o.help = true; break;
            default: refuse_argument(c, argv);
        }
    }
    const auto refuse = [](const std::string& message) { throw Error{status_bad_input, message}; };
    if (optind < argc) refuse(format("unexpected argument '%s'; see --help", argv[optind]));
    if (o.type != Type::f32 && o.type != Type::f64) refuse(format("--type %s: this step is for float and double", name_of(o.type)));
    if (o.all && !o.kernels.empty()) refuse("--all excludes --kernel: give one or the other");
    return o;
}

std::string usage()
{
    return R"(usage: ./step08 [options]

Transposes a matrix whose rows are spread over several GPUs, checks every element, and reports how much of
the links' bandwidth each way of doing it reaches (GPUs), or what crosses between which GPUs (simulator).

  --gpus G               so many GPUs (default: all; on the simulator 4; at most 16)
  --size N[,N|WxH...]    a square matrix of N x N elements, or one of H rows of W elements
                         (default: 8192 on GPUs, 512 on the simulator)
  --type float|double    the type of the elements (default: float)
  --reps R               timed samples per kernel on GPUs (default: 10)
  --device auto|cuda|sim where to run (default: auto, GPUs if there are two or more)
  --all                  also run the variants
  --kernel NAME[,...]    run only these of --list
  --once                 run each once, verified and untimed, for use with a profiler
  --explain              who writes to whom, from the first blocks to the last, and what each access costs (simulator)
  --machine NAME         the GPU that the simulator counts for (default: h200)
  --link NAME            the links of the model (default: nvlink4): nvlink2, nvlink3, nvlink4, pcie4, pcie5, ndr
  --patience S           seconds to wait for another process (default: 60)
  --csv FILE             also write the results to FILE
  --list                 list the kernels
  --help                 print this text

Started by mpirun or srun, each process drives one GPU, and the kernels that send messages run.

Exit status: 0 all results right; 1 a wrong result; 2 bad input; 3 no CUDA device, a CUDA error, or an NCCL error.
)";
}
