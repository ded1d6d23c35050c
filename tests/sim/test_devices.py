"""Several devices on the simulator: `--gpus`, requests and copies between devices, NCCL, and races between streams."""

import csv
import re

import pytest

from conftest import assert_refused
from found import findings
from samples import some
from test_try import closing, tried

HERE = "tests/sim/programs/devices_wrong.cu"
A, B = (rf"byte 0 of {name}\[d\] \(cudaMalloc at {HERE}:\d+, device %d\)" for name in "ab")
UNORDERED = "nothing orders the two: record an event after the first, and let the second wait for it"

# The fault, and what each finding must say of it. THREAD, LINE: any.
WRONG = {
    "no_access_store": [rf"set: no peer access: a store of 4 bytes at {A % 1}: THREAD; call cudaSetDevice\(0\) and "
                        r"then cudaDeviceEnablePeerAccess\(1, 0\) before the launch \(32 times\)"],
    "no_access_load": [rf"put: no peer access: a load of 4 bytes at {A % 2}: THREAD; call cudaSetDevice\(0\) and then "
                       r"cudaDeviceEnablePeerAccess\(2, 0\)"],
    "wrong_stream_unseen": [r"unchecked error: set, launched at LINE: invalid resource handle "
                            r"\(the stream belongs to device 1 and device 0 is current; call cudaSetDevice\(1\) before "
                            r"the launch\)"],
    "peer_copy_source": [rf"bad copy: cudaMemcpyPeer at LINE: the source is memory of device 0 \({A % 0}\), and the "
                         r"call says device 2"],
    "out_of_bounds": [r"set: out-of-bounds store of 4 bytes at byte 132 of b\[d\] \(cudaMalloc at LINE, device 1\)"],
    "race_of_stores": [rf"set: race: {A % 2}: THREAD, writes it and set, launched at LINE on device 0 writes it; "
                       rf"{UNORDERED} \(32 times\)"],
    "race_of_copy": [rf"race: {A % 0}: cudaMemcpyPeerAsync at LINE reads it and set, launched at LINE on device 0 "
                     rf"writes it; {UNORDERED}"],
    "event_too_early": [rf"race: {A % 0}: cudaMemcpyPeerAsync at LINE reads it and set, launched at LINE on device 0 "
                        rf"writes it; {UNORDERED}"],
    "race_with_message": [rf"race: {B % 1}: ncclRecv at LINE writes it and set, launched at LINE on device 1 writes "
                          rf"it; {UNORDERED}"],
    "thread_that_ends": [r"bad message: ncclRecv at LINE: rank 1 receives from rank 0, which does not send; ",
                         r"bad message: ncclSend at LINE: rank 1 sends to rank 0, which never receives"],
    "nccl_foreign_id": [r"bad message: ncclCommInitRank at LINE: the id is not from ncclGetUniqueId in this process, "
                        r"and the simulator has no messages between processes"],
    "nccl_ranks_one_by_one": [r"bad message: ncclCommInitRank at LINE: the thread made rank 0, too, and waits for ever "
                              r"there; put the calls between ncclGroupStart and ncclGroupEnd"],
    "nccl_too_many_ranks": [r"bad message: ncclCommInitRank at LINE: 17 ranks, where 1 to 3 are allowed"],
    "nccl_lone_receive": [r"bad message: ncclRecv at LINE: rank 1 receives from rank 0, which does not send; put both "
                          r"calls between ncclGroupStart and ncclGroupEnd"],
    "nccl_message_of_peer": [rf"bad message: ncclSend at LINE: the buffer is memory of device 1 \({A % 1}\), and the "
                             r"rank has device 0"],
    "nccl_message_too_long": [r"bad message: ncclSend at LINE: the buffer has 4096 bytes from byte 0 of a\[d\] .* on, "
                              r"and the message takes 8000"],
    "nccl_not_ours": [r"bad message: ncclSend at LINE: the communicator does not exist"],
    "nccl_counts_differ": [r"bad message: ncclSend at LINE: rank 0 sends to rank 1 128 bytes, and ncclRecv at LINE "
                           r"expects 124"],
    "nccl_received_twice": [rf"race: {B % 1}: ncclRecv at LINE writes it and ncclRecv at LINE on device 1 writes it; "
                            rf"{UNORDERED}"],
    "nccl_collective": [r"not simulated: ncclAllReduce at LINE: of NCCL there are ncclSend and ncclRecv"],
}
# What comes close to them, and is right.
RIGHT = ["event", "synchronize", "threads", "ordered_by_message", "nccl_right", "wrong_stream", "wrong_event"]


def test_each_fault_is_found():
    wrong = {}
    for fault, expected in WRONG.items():
        done = tried("devices_wrong", fault)
        found = findings(done)
        patterns = [words.replace("THREAD", rf"thread \(0, 0, 0\) at {HERE}:\d+, in block \(0, 0, 0\)")
                    .replace("LINE", rf"{HERE}:\d+") for words in expected]
        if done.returncode != 1 or len(found) != len(expected) or not all(map(re.match, patterns, found)):
            wrong[fault] = done.stdout
    assert not wrong


def test_what_is_ordered_is_no_fault():
    """With sim_quiet_report(), a program without findings prints nothing but its own lines."""
    own = {
        "nccl_right": "group: no error\n", "ordered_by_message": "group: no error\n",
        "wrong_stream": "cudaErrorInvalidResourceHandle\n", "wrong_event": "record: cudaErrorInvalidResourceHandle\n"}
    for name in RIGHT:
        done = tried("devices_wrong", name)
        assert done.returncode == 0 and done.stdout == own.get(name, ""), done.stdout + done.stderr


@pytest.mark.parametrize("name", ["too_many", "too_late"])
def test_a_number_of_devices_that_cannot_be(name):
    assert_refused(
        tried("devices_wrong", name), 2, "sim_use_devices(17): expected 1 to 16 devices"
        if name == "too_many" else "sim_use_devices(3): call it before the first use of a device")


@pytest.mark.parametrize("gpus", some([2, 1, 8, 16], 4))
@pytest.mark.parametrize("name", ["devices_language", "devices_lanes", "devices_threads"])
def test_right_programs(name, gpus):
    done = tried(name, options=f"--gpus {gpus}")
    assert done.returncode == 0 and "PASSED" in done.stdout and closing(done)[2] == 0, done.stdout + done.stderr


def test_devices_without_peers():
    done = tried("devices", options="--gpus 2 --no-peers --quiet")
    assert done.returncode == 1 and "peer access is not supported between these two devices" in done.stderr, done.stderr
    # No address is the same on the host and on a device of before compute capability 2.0, so no device can access
    # another.
    assert "peer access is not supported" in tried("devices", options="--gpus 2 --machine gtx280 --quiet").stderr


@pytest.mark.parametrize("gpus", some([3, 1, 2, 4, 8, 16], 6))
def test_what_goes_between_devices(gpus):
    """Each device sends 4000 bytes to each other one: as 125 sectors by 32 requests (four blocks, of which the last has
    29 threads of a warp less), or as a message."""
    done = tried("devices", str(gpus), options="--quiet")
    assert done.returncode == 0 and closing(done)[2] == 0, done.stdout + done.stderr
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines()[:5])
    moved = {
        "stores": "bytes 4000 asked 4000 stores 32 loads 0 messages 0 message_bytes 0",
        "loads": "bytes 4000 asked 4000 stores 0 loads 32 messages 0 message_bytes 0",
        "copies": "bytes 0 asked 0 stores 0 loads 0 messages 1 message_bytes 4000"}
    # In plain order all send to one device at a time, and in rotated order each to another one.
    expected = {
        "stores, plain order": (moved["stores"], gpus, gpus), "stores, rotated order": (moved["stores"], gpus - 1, 1),
        "loads": (moved["loads"], gpus - 1, 1), "copies": (moved["copies"], gpus - 1, 1),
        "messages": (moved["copies"], 1, 1)}
    for name, (counts, windows, busiest) in expected.items():
        if gpus == 1:
            assert lines[name] == "1 devices, diagonal 0, nothing else, windows 0, busiest 0.000"
        else:
            assert lines[name] == f"{gpus} devices, diagonal 0, {counts}, windows {windows}, busiest {busiest:.3f}"


def test_requests_to_a_peer_stand_apart(tmp_path):
    """devices_lanes: half a warp accesses its own device, the other half another, in both orders."""
    done = tried("devices_lanes",
                 options=f"--explain --gpus 2 --csv {tmp_path}/counts.csv --trace {tmp_path}/trace.csv")
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "counts.csv", newline="") as file:
        counted = {
            (r["memory"], r["access"]): (int(r["requests"]), int(r["accesses"]), int(r["units"]), int(r["bytes_moved"]))
            for r in csv.DictReader(file)}
    assert counted == {
        (memory, access): (2, 32, 4, 128) for memory in ["global", "peer"] for access in ["load", "store"]}
    with open(tmp_path / "trace.csv", newline="") as file:
        traced = [(r["memory"].split(", ")[-1], r["lanes"], r["partition"] == "")
                  for r in csv.DictReader(file)
                  if r["access"] == "load"]
    assert traced == [("device 0)", "0000ffff", False), ("device 1)", "ffff0000", True),
                      ("device 1)", "0000ffff", True), ("device 0)", "ffff0000", False)]
    assert "load of peer memory at tests/sim/programs/devices_lanes.cu:" in done.stdout
    for devices, by in (("0 to device 1", "2 stores and 0 loads"), ("1 to device 0", "0 stores and 2 loads")):
        assert (f"from device {devices}: 128 bytes in sectors, 128 asked for, by {by} of warps\n"
                in done.stdout), done.stdout
    # On one device, both halves are one request.
    done = tried("devices_lanes", options=f"--csv {tmp_path}/counts.csv")
    with open(tmp_path / "counts.csv", newline="") as file:
        assert {(r["memory"], r["requests"], r["accesses"]) for r in csv.DictReader(file)} == {("global", "2", "64")}
    assert "peer" not in done.stdout and "device 0" not in done.stdout
