#!/usr/bin/env python3
"""The transpose of a matrix spread over GPUs, as PyTorch makes it: local transposes around all_to_all_single.

usage: torchrun --nproc-per-node GPUS all_to_all.py [--size N,...] [--type float,double] [--reps R] [--csv FILE]
                                                     [--beside FILE]

Each process has N / GPUS rows of an N x N matrix, and N must be a multiple of GPUS. It packs (one permute), exchanges,
and unpacks (one permute). Every element is checked. Prints, and writes to FILE, a row per size and type: the median of
R samples in ms, and bytes that leave a GPU over that time in GB/s (10^9). --beside: results of `./step08 --csv` on the
same GPUs; each row then also has its share of the peer copies in them. Exits 1 on a wrong result. Needs PyTorch with
NCCL.
"""

import argparse
import csv
import datetime
import statistics
import sys

import torch
import torch.distributed as distributed

TYPES = {"float": torch.float32, "double": torch.float64}
COLUMNS = [
    "date_utc", "machine", "torch", "nccl", "gpus", "type", "width", "height", "samples", "time_median_ms",
    "time_min_ms", "gbs_out_of_each_gpu"]


def transpose(rows, gpus):
    """Of (n / gpus) x n elements here, the n / gpus rows of the transpose that this GPU is to have."""
    mine, n = rows.shape
    send = rows.view(mine, gpus, n // gpus).permute(1, 2, 0).contiguous()
    received = torch.empty_like(send)
    distributed.all_to_all_single(received, send)
    return received.permute(1, 0, 2).reshape(n // gpus, n)


def right(result, rank, gpus, n):
    """Element (y, x) of the matrix is y * n + x, in as many bits as the type keeps exactly."""
    x = torch.arange(rank * (n // gpus), (rank + 1) * (n // gpus), device="cuda").view(-1, 1)
    step = 1024
    def right(y):
        rows = torch.arange(y, min(y + step, n), device="cuda").view(1, -1)
        return bool((result[:, y:y + step] == value(rows, x, n).to(result.dtype)).all())
    return all(right(y) for y in range(0, n, step))


def value(y, x, n):
    return (y * n + x) % (1 << 24)


def peer_copies(path):
    """{(type, n): GB/s out of each GPU} of the copies that ./step08 measured."""
    if not path:
        return {}
    with open(path, newline="") as file:
        return {(row["type"], int(row["width"])): float(row["gbs_out_of_each_gpu"])
                for row in csv.DictReader(file)
                if row["kernel"] == "copyToPeers" and row["width"] == row["height"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="8192,16384,32768")
    parser.add_argument("--type", default="float,double")
    parser.add_argument("--reps", type=int, default=10)
    parser.add_argument("--csv")
    parser.add_argument("--beside")
    options = parser.parse_args()
    bounds = peer_copies(options.beside)
    distributed.init_process_group("nccl")
    rank, gpus = distributed.get_rank(), distributed.get_world_size()
    torch.cuda.set_device(rank)
    rows, wrong = [], False
    for name in options.type.split(","):
        for n in map(int, options.size.split(",")):
            if n % gpus:
                sys.exit(f"all_to_all.py: --size {n}: not a multiple of {gpus} GPUs")
            begin = rank * (n // gpus)
            y = torch.arange(begin, begin + n // gpus, device="cuda").view(-1, 1)
            matrix = torch.cat([
                value(y[i:i + 256], torch.arange(n, device="cuda"), n).to(TYPES[name])
                for i in range(0, n // gpus, 256)])
            wrong |= not right(transpose(matrix, gpus), rank, gpus, n)
            samples = []
            for _ in range(options.reps + 2):
                distributed.barrier(device_ids=[rank])
                torch.cuda.synchronize()
                start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                start.record()
                for _ in range(4):
                    transpose(matrix, gpus)
                end.record()
                torch.cuda.synchronize()
                samples.append(start.elapsed_time(end) / 4)
            del matrix
            torch.cuda.empty_cache()
            samples = samples[2:]
            median = statistics.median(samples)
            crossing = (n // gpus) * (n - n // gpus) * torch.empty(0, dtype=TYPES[name]).element_size()
            rows.append([
                datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                torch.cuda.get_device_name(rank), torch.__version__, ".".join(map(str, torch.cuda.nccl.version())),
                gpus, name, n, n,
                len(samples), f"{median:.5f}", f"{min(samples):.5f}", f"{crossing / median / 1e6:.2f}"])
    if rank == 0:
        for row in rows:
            bound = bounds.get((row[5], row[6]))
            print(f"{row[5]:8} {row[6]:6} x {row[7]:6}  {row[9]} ms  {row[11]} GB/s out of each GPU" +
                  (f", {100 * float(row[11]) / bound:.1f} % of the peer copies" if bound else ""))
        if options.csv:
            with open(options.csv, "w", newline="") as file:
                csv.writer(file).writerows([COLUMNS, *rows])
    distributed.destroy_process_group()
    if wrong:
        sys.exit("all_to_all.py: wrong result")


if __name__ == "__main__":
    main()
