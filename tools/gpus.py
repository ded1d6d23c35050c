#!/usr/bin/env python3
"""What only several GPUs of one machine can show of step 8.

usage: python3 tools/gpus.py --out DIR [--gpus N] [--quick] [--no-sanitizer]

Runs ./step08 (built with nvcc and NCCL) on the N GPUs that it sees, by default 2. Verifies every kernel, float and
double, from 1 x 1 to odd sizes, on one GPU and on all; times them from 8192 x 8192 to 65536 x 65536, beside copies in
both directions and PyTorch; runs one process per GPU, and one that is killed; runs compute-sanitizer. Writes
DIR/gpus.csv (COLUMNS, from ./step08 --csv), DIR/torch.csv and DIR/gpus.log. Exits 1 if anything is not as it should be,
and says what. --quick: the small sizes only.
"""

import csv
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import gpu
from lessons import ROOT, run
import command_line

SMALL = "1,2x1,1x2,33x65,64,127x129,333x555,1000x777"
LARGE = {
    "float": "8192,16384,32768,65536,10007x6007,16383x16381,32767x32765",
    "double": "8192,16384,32768,16383x16381"}
COLUMNS = (
    "date_utc", "commit", "backend", "machine", "driver", "processes", "gpus", "kernel", "type", "width", "height",
    "verified", "samples", "time_median_ms", "time_min_ms", "time_spread_percent", "crossing_bytes_of_a_gpu",
    "gbs_out_of_each_gpu", "percent_of_peer_copies")


def ran(*command):
    done = run(*command, timeout=300)
    return done.returncode, done.stdout + done.stderr


def expect(condition, what, text):
    print(f"{'ok' if condition else 'not ok'}: {what}", flush=True)
    gpu.expect(condition, f"{what}: {text[-2000:]}")


def processes(count, *arguments, killed=None):
    """One process of ./step08 per GPU, as mpirun starts them; `killed`: this one dies by SIGKILL after four seconds."""
    started = [
        subprocess.Popen(
            ["./step08", *map(str, arguments)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(count),
                 "OMPI_COMM_WORLD_LOCAL_RANK": str(rank)}) for rank in range(count)]
    if killed is not None:
        time.sleep(4)
        started[killed].send_signal(signal.SIGKILL)
    return [(p.communicate(timeout=120)[0], p.returncode) for p in started]


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--no-sanitizer", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    log = []
    all_gpus = options.gpus
    for gpus in (1, all_gpus):
        for element in ("float", "double"):
            code, text = ran("./step08", "--device", "cuda", "--gpus", gpus, "--all", "--once", "--type", element,
                             "--size", SMALL)
            expect(code == 0 and "wrong" not in text, f"{gpus} GPU(s), {element}, {SMALL}: every kernel verified", text)
    if not options.no_sanitizer:
        for tool in ("memcheck", "racecheck"):
            # Calls that fail and are asked about, as NCCL's for access to peers that it has, are no errors.
            code, text = ran("compute-sanitizer", "--tool", tool, "--report-api-errors", "no", "--error-exitcode", "9",
                             "./step08", "--device", "cuda", "--all", "--once", "--size", "333x555,127x129")
            expect(code == 0 and re.search(r"0 errors|0 hazards", text), f"compute-sanitizer {tool} is silent", text)
    code, text = ran("./step08", "--device", "cuda", "--gpus", all_gpus + 1)
    expect(code == 3 and text.count("\n") == 1, f"{all_gpus + 1} GPUs asked for: one line, status 3: " + text.strip(),
           text)
    code, text = ran("./step08", "--device", "cuda", "--size", "800000")
    expect(code == 2 and text.count("step08: ") == 1, "too large: " + text.strip().splitlines()[-1], text)
    ended = processes(all_gpus, "--all", "--size", "333x555,8192,32768", "--patience", "10", "--csv",
                      options.out / "processes.csv")
    expect(
        all(code == 0 for _, code in ended) and "verified" in ended[0][0] and not any(text for text, _ in ended[1:]),
        "one process per GPU: every kernel; the first one prints", "".join(text for text, _ in ended))
    log.append(ended[0][0])
    code, text = ran("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", all_gpus, "./step08", "--kernel",
                     "transposeToPeers,transposePacked,sendMessages", "--size", "16384")
    expect(code == 0 and "verified" in text, "the same under mpirun", text)
    log.append(text)
    ended = processes(
        all_gpus, "--kernel", "sendMessages", "--size", ",".join(["16384"] * 6), "--reps", "100000", "--patience", "5",
        killed=1)
    expect(ended[0][1] == 3 and ended[0][0].strip().splitlines()[-1].startswith("step08:"),
           "a process dies, the others end with: " + ended[0][0].strip().splitlines()[-1], ended[0][0])
    if not options.quick:
        for element, sizes in LARGE.items():
            code, text = ran("./step08", "--device", "cuda", "--all", "--type", element, "--size", sizes, "--csv",
                             options.out / f"{element}.csv")
            expect(code == 0, f"{element}, {sizes}: timed, verified before and after", text)
            log.append(text)
        with open(options.out / "gpus.csv", "w", newline="", encoding="utf-8") as file:
            rows = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
            rows.writeheader()
            for name in (*LARGE, "processes"):
                if (options.out / f"{name}.csv").exists():
                    rows.writerows(csv.DictReader((options.out / f"{name}.csv").open(encoding="utf-8")))
        code, text = ran("torchrun", "--nproc-per-node", all_gpus, "step08_gpus/peers/all_to_all.py", "--size",
                         "8192,16384,32768,65536", "--csv", options.out / "torch.csv")
        expect(code == 0, "PyTorch's all_to_all_single", text)
        log.append(text)
    (options.out / "gpus.log").write_text("\n".join(log))
    sys.exit(bool(gpu.failures))


if __name__ == "__main__":
    main()
