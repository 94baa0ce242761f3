# SPDX-License-Identifier: Apache-2.0
"""Holds the metrics of a PyTorch job against its own memory_stats() and NVIDIA's tools, while it stands still.

  python3 bench/gpu/metrics.py --ebb build/release/bin/ebb

Exit status 1 where they differ: PyTorch's to the byte, the card's by more than a MiB.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

JOB = """
import json, sys, torch
kept = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(3)]
small = [torch.empty(300 << 10, dtype=torch.uint8, device="cuda") for _ in range(64)]
del small[::2], kept[1]
torch.cuda.synchronize()
free, total = torch.cuda.mem_get_info()
stats = {key: value for key, value in torch.cuda.memory_stats().items() if key.endswith("bytes.all.current")}
print(json.dumps({"free": free, "total": total, **stats}), flush=True)
sys.stdin.read()
"""
MIB = 1 << 20


def scraped(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if not line.startswith("#")}


def settled(address, wanted):
    """The metrics once `wanted` is among them and two scrapes agree about it."""
    before = None
    while True:
        now = scraped(address)
        if wanted in now and before is not None and now[wanted] == before.get(wanted):
            return now
        before = now
        time.sleep(2)


def smi():
    """Total and free of the first card, in MiB."""
    text = subprocess.run(["nvidia-smi", "--query-gpu=memory.total,memory.free", "--format=csv,noheader,nounits"],
                          capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return [int(word) for word in text.split(",")]


def compare(ebb, folder):
    job = subprocess.Popen([ebb, "run", "--db", f"{folder}/runs.db", "--metrics", "127.0.0.1:0", "--", sys.executable, "-c",
                            JOB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S+", job.stderr.readline())[0]
        own = json.loads(job.stdout.readline())
        process = 'ebb_process_device_bytes{run="1",process="1",device="0",part="%s"}'
        found = settled(address, process % "live")
        total, free = smi()
        reserved, active = own["reserved_bytes.all.current"], own["active_bytes.all.current"]
        allocated, inactive = own["allocated_bytes.all.current"], own["inactive_split_bytes.all.current"]
        rows = [("live", found.get(process % "live"), allocated, 0),
                ("pending", found.get(process % "pending"), active - allocated, 0),
                ("inactive", found.get(process % "inactive"), inactive, 0),
                ("free", found.get(process % "free"), reserved - active - inactive, 0),
                ("card, total", found.get('ebb_device_total_bytes{run="1",device="0"}'), total * MIB, MIB),
                ("card, used", found.get('ebb_device_used_bytes{run="1",device="0"}'), (total - free) * MIB, 2 * MIB)]
    finally:
        job.stdin.close()
        job.wait()
    print(f"{'':<12} {'metric':>16} {'PyTorch, nvidia-smi':>20}")
    for name, metric, truth, _ in rows:
        print(f"{name:<12} {metric if metric is None else int(metric):>16} {truth:>20}")
    return all(metric is not None and abs(metric - truth) <= slack for _, metric, truth, slack in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ebb", default="build/release/bin/ebb")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(0 if compare(options.ebb, folder) else 1)


if __name__ == "__main__":
    main()
