"""The hooks see every access: a second witness (mk/witness.mk) sees no other, and notices a hook that is left out."""

import json
import os
import re

import pytest

from audit import accounts, moved, unseen
from lessons import ROOT, made, run
from samples import ALL

# Places at which it sees fewer bytes: `scale` and `constantScale`, variables of the device that are used by name.
JOINED = {"step01": 2}
STEPS = [f"step{number:02}" for number in range(1, 9)]
PROGRAMS = sorted(path for folder in ("language", "programs") for path in (ROOT / "tests/sim" / folder).glob("*.cu"))
# They end without a report, or with a finding that ends threads; or are not done before the limit of time.
WITHOUT = {"abort", "devices_wrong", "large", "long", "long_kernel", "null_pointer"}
ESCAPED = re.compile(r"audit: (\S+):(\d+): (load|store)s (\d+) bytes of (\w+) memory that were not counted")


def audited(source, *options):
    return run("bash", ROOT / "sim/simcuda", "--audit", "--error-exitcode", "0", *options, source, timeout=300)


@pytest.mark.parametrize("step", STEPS if ALL else ["step04", "step07"])
def test_no_place_of_the_lessons_escapes(step, tmp_path):
    for type_ in ("float", "double"):
        seen = []
        for program in (step, f"build/witness/{step}"):
            result = tmp_path / "result.json"
            done = run(made(program), "--device", "sim", "--size", "70x37", "--all", "--explain", "--type", type_,
                       "--json", result)
            assert done.returncode == 0, done.stderr
            seen.append(accounts(result)[0])
        assert unseen(*seen, exactly=True) == []
        hooks, witness = map(moved, seen)
        assert len([place for place in hooks if witness[place] < hooks[place]]) == JOINED.get(step, 0)


@pytest.mark.parametrize("source", PROGRAMS if ALL else PROGRAMS[:3], ids=lambda source: source.stem)
def test_no_place_of_a_program_escapes(source):
    if source.stem in WITHOUT:
        pytest.skip("ends without counts")
    done = audited(source)
    assert "audit: " in done.stdout and ", none that the hooks have not seen" in done.stdout, done.stdout + done.stderr


# Each kind of access in a line of its own. The hidden function is one that the compiler's other checks leave out, and a
# constant array beside a load has g++ leave out its hook.
KINDS = """
struct Five { int n[5]; };
struct __attribute__((packed)) Odd { char c; short s; int i; long l; };
__device__ __attribute__((no_sanitize("thread"))) void hidden(int* to, const int* from)
{
    *to = *from;
}
__global__ void k(char* c, short* s, int* i, long* l, float4* f, Five* five, Odd* odd, volatile int* v)
{
    c[32] = threadIdx.x;
    c[33] = c[0];
    s[32] = threadIdx.x;
    s[33] = s[0];
    i[32] = threadIdx.x;
    i[33] = i[0];
    l[32] = threadIdx.x;
    l[33] = l[0];
    f[32] = make_float4(1, 2, 3, 4);
    f[33] = f[0];
    five[32] = five[0];
    odd[32].s = threadIdx.x;
    odd[33].s = odd[0].s;
    odd[32].i = threadIdx.x;
    odd[33].i = odd[0].i;
    odd[32].l = threadIdx.x;
    odd[33].l = odd[0].l;
    v[40] = threadIdx.x;
    i[34] = v[41];
    hidden(i + 35, i + 1);
}
template <typename T> T* zeroed() { T* p; cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096); return p; }
int main()
{
    int* const i = zeroed<int>();
    k<<<1, 1>>>(zeroed<char>(), zeroed<short>(), i, zeroed<long>(), zeroed<float4>(), zeroed<Five>(), zeroed<Odd>(), i);
    return cudaDeviceSynchronize();
}
"""


def test_the_witness_notices_each_hook_that_is_left_out(tmp_path):
    source = tmp_path / "kinds.cu"
    source.write_text(KINDS)
    done = audited(source, "--keep-dir", tmp_path)
    hidden = KINDS[:KINDS.index("*to = ")].count("\n") + 1
    assert ({(int(line), access) for _, line, access, _, _ in ESCAPED.findall(done.stdout)}
            == {(hidden, "load"), (hidden, "store")}), done.stdout + done.stderr
    assert done.returncode == 1

    hooks, witness = accounts(tmp_path / "hooks.json")[0], accounts(tmp_path / "witness.json")[0]
    known = unseen(hooks, witness, exactly=True)
    object_ = tmp_path / "file1.o"
    left_out = sorted(set(re.findall(r" U (__tsan_(?!init|func|vptr|atomic)\w+)", run("nm", object_).stdout)))
    assert len(left_out) >= 12, left_out
    for hook in left_out:
        run("objcopy", f"--redefine-sym={hook}=__tsan_func_exit", object_, tmp_path / "without.o")
        done = run("bash", ROOT / "sim/simcuda", "-o", tmp_path / "without", tmp_path / "without.o")
        assert done.returncode == 0, done.stderr
        done = run(tmp_path / "without", env={**os.environ, "SIM_OPTIONS": f"--json {tmp_path / 'without.json'}"})
        found = unseen(accounts(tmp_path / "without.json")[0], witness, exactly=True)
        assert len(found) > len(known), (hook, found)
