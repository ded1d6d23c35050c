#!/usr/bin/env python3
"""Runs kernels of GPUVerify's test suite in the simulator: an oracle for races that others wrote.

    python3 tools/gpuverify.py FOLDER [--draws 3] [--work FOLDER] [NAME...]

FOLDER has kernels whose first lines say `//pass` or `//xfail:...` and the launch, as the folder testsuite/CUDA of
https://github.com/mc-imperial/gpuverify has. GPUVerify tries all values of the parameters; here a main() is written for
each kernel that draws a few: arrays of a megabyte with small, large and equal elements, and scalars from the launch.
So a fault that only one value shows may stay unseen, and a pass must have no finding for any draw.

Prints one line for each kernel, and a table. Exit status: 1 if a kernel that passes has a finding, 2 for bad arguments.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from lessons import ROOT as HOME
import command_line

# What GPUVerify adds to the language: claims are no code, and a requirement that does not hold ends the kernel.
CLAIMS = ['__ensures', '__invariant', '__global_assert', '__function_wide_invariant', '__loop_invariant',
          '__function_wide_candidate_invariant', '__read_implies', '__write_implies', '__no_read', '__no_write',
          '__global_requires', '__global_invariant', '__candidate_invariant', '__distinct_int',
          '__requires_fresh_array']
HEAD = '''#include <cassert>
#include <type_traits>
#include <cuda_runtime.h>
#include <cuda.h>
#include <cooperative_groups.h>
#define __requires(...) if (!(__VA_ARGS__)) return
#define __assume(...) if (!(__VA_ARGS__)) return
#define __assert(...) assert((__VA_ARGS__))
#define __implies(a, b) (!(a) || (b))
#define __enabled() true
''' + ''.join(f'#define {name}(...) (true)\n' for name in CLAIMS)
# Elements of arrays: all 0, small and all different, and any bits.
FILL = {0: '0', 1: 'unsigned(i % 64)', 2: 'unsigned(i * 2654435761u >> 7)'}
BYTES = 1 << 20


def numbers(text, name, most):
    """The three numbers of --blockDim=64 or --blockDim=[8,8], each at most `most`."""
    found = re.search(rf'--{name}=\[?([\d,]+)', text)
    given = [int(n) for n in found.group(1).split(',')] if found else [1]
    dims = [min(n, most) for n in given] + [1] * (3 - len(given))
    while dims[0] * dims[1] * dims[2] > most:
        dims[dims.index(max(dims))] //= 2
    return dims


def parameters(source):
    """Yields (name of the kernel, its parameters as texts)."""
    plain = re.sub(r'//[^\n]*|/\*.*?\*/', '', source, flags=re.S)
    for found in re.finditer(r'__global__[\w\s]*?\bvoid\b\s*(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(', plain):
        depth, end = 1, found.end()
        while depth:
            depth += {'(': 1, ')': -1}.get(plain[end], 0)
            end += 1
        inside = plain[found.end():end - 1].strip()
        if plain[end:].lstrip().startswith('{'):
            yield found.group(1), [] if inside in ('', 'void') else re.split(r',(?![^<]*>)', inside)


def program(source, draw):
    """The source with a main(), or None if a parameter has a type that cannot be drawn."""
    options = '\n'.join(source.split('\n')[:3])
    block, grid = numbers(options, 'blockDim', 1024), numbers(options, 'gridDim', 8)
    threads = block[0] * block[1] * block[2]
    scalars = [[0, 1, 2, 3], [threads, threads * grid[0], 1, 4], [7, 2, 32, threads - 1]][draw]
    body, n = '', 0
    for name, given in parameters(source):
        arguments = []
        for parameter in given:
            if '(*' in parameter or '[' in parameter or re.search(r'\b(func\w*|fun_t)\b', parameter):
                return None
            # A type is that of the parameter: the helper takes it from the kernel.
            arguments.append(f'drawn{"_array" if "*" in parameter else ""}({scalars[n % 4]})')
            n += 1
        body += f'    {name}<<<dim3({grid[0]}, {grid[1]}, {grid[2]}), dim3({block[0]}, {block[1]}, {block[2]})>>>' \
                f'({", ".join(arguments)});\n    cudaDeviceSynchronize();\n'
    helper = '''
struct drawn {
    unsigned value;
    explicit drawn(unsigned v) : value(v) {}
    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>>>
    operator T() const { return T(value); }
};
struct drawn_array {
    drawn_array(unsigned) {}
    template <typename T> operator T*() const { char* p; static unsigned h[BYTES / 4];
        cudaMalloc(&p, BYTES); for (unsigned i = 0; i < BYTES / 4; ++i) h[i] = FILL;
        cudaMemcpy(p, h, BYTES, cudaMemcpyHostToDevice); return (T*)p; }
};
'''.replace('BYTES', str(BYTES)).replace('FILL', FILL[draw])
    return HEAD + '#line 1\n' + source + helper + 'int main()\n{\n' + body + '}\n'


def run(file, draw, work):
    """Returns 'findings' as a list of kinds with their texts, or a text that says why there are none."""
    source = file.read_text(errors='replace')
    text = program(source, draw)
    if text is None:
        return 'a parameter cannot be drawn'
    cu, out = work / 'kernel.cu', work / 'findings.json'
    cu.write_text(text)
    out.unlink(missing_ok=True)
    defines = re.findall(r'-D\w+(?:=\w+)?', source.split('\n')[1])
    try:
        done = subprocess.run([HOME / 'sim/simcuda', '-I', file.parent, *defines, '--json', out, cu], cwd=work,
                              capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return 'no end within a minute'
    if not out.exists():
        lines = [line for line in done.stderr.split('\n') if 'error' in line] or done.stderr.split('\n')
        return ('a structure cannot be drawn' if 'do not fit' in done.stderr else
                'a function is only declared' if 'undefined reference' in done.stderr else
                lines[0].split('/')[-1][:100])
    found = json.loads(out.read_text())['findings']
    return [f'{f["kind"]}: {f["text"]}' for f in found if f['kind'] != 'never-freed']


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('names', nargs='*', help='parts of the names of folders: only these')
    parser.add_argument('--draws', type=int, default=3, choices=[1, 2, 3])
    parser.add_argument('--work', type=pathlib.Path, help='where programs are written (default: a temporary folder)')
    options = parser.parse_args()
    files = [f for f in sorted(options.folder.rglob('*.cu'))
             if not options.names or any(n in str(f) for n in options.names)]
    if not files:
        parser.error(f'{options.folder}: no kernels there')
    work = options.work.resolve() if options.work else pathlib.Path(tempfile.mkdtemp())
    table = {}
    for file in files:
        label = file.read_text(errors='replace').split('\n')[0].lower()
        passes = label.startswith('//pass')
        outcomes = [run(file, draw, work) for draw in range(options.draws)]
        found = [f for o in outcomes if isinstance(o, list) for f in o]
        ran = any(isinstance(o, list) for o in outcomes)
        verdict = ('no run' if not ran else 'finding' if found else 'clean')
        table.setdefault((passes, verdict), []).append(file)
        why = found[0] if found else '' if ran else outcomes[0]
        name = file.parent.relative_to(options.folder)
        print(f'{"pass" if passes else label[2:]:24} {verdict:8} {name}  {why[:160]}', flush=True)
    for (passes, verdict), those in sorted(table.items()):
        print(f'{"pass" if passes else "xfail"}: {len(those)} {verdict}')
    return 1 if (True, 'finding') in table else 0


if __name__ == '__main__':
    sys.exit(main())
