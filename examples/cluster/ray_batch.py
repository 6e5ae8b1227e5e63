"""Judges a folder of candidates on a Ray cluster: python3 ray_batch.py ANSWERS RESULTS [--cpus 4] [--isomer PATH]

Each shard is a task with a results file of its own. A task that is lost with its worker is started again by Ray, and
goes on where its file ends, so that nothing is lost and nothing is judged twice. RESULTS has to be a folder that all
workers share.
"""

import argparse
import ctypes
import pathlib
import signal
import subprocess
import sys

import ray


def end_with_parent():
    """A worker that is killed takes its batch with it: nobody else can write to the results file before."""
    set_parent_death_signal = 1  # prctl's PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


@ray.remote(max_retries=5, retry_exceptions=True)
def judge(isomer, answers, results, shard, shards, jobs):
    file = pathlib.Path(results) / f"{shard}.jsonl"
    done = subprocess.run(
        [isomer, "check", answers, "--jobs", str(jobs), "--shard", f"{shard}/{shards}", "--resume", str(file)],
        capture_output=True, text=True, preexec_fn=end_with_parent)
    # 1: some candidates fail. 2: some could not be judged, which their lines say, or a sentence says why the whole could
    # not. 3: the shard holds no folder.
    refused = done.returncode == 2 and any(line.startswith("isomer: ") for line in done.stderr.splitlines())
    if done.returncode not in (0, 1, 2, 3) or refused:
        raise RuntimeError(f"shard {shard}: {done.stderr.strip() or done.returncode}")
    return str(file) if file.exists() else None


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("answers")
    words.add_argument("results")
    words.add_argument("--shards", type=int, default=0, help="default: four for each worker's share of processors")
    words.add_argument("--cpus", type=int, default=2, help="processors of one task")
    words.add_argument("--isomer", default="isomer", help="the command")
    asked = words.parse_args()
    ray.init()
    shards = asked.shards or max(1, 4 * int(ray.cluster_resources().get("CPU", 1)) // asked.cpus)
    results = pathlib.Path(asked.results).absolute()
    results.mkdir(parents=True, exist_ok=True)
    answers = str(pathlib.Path(asked.answers).absolute())
    tasks = [judge.options(num_cpus=asked.cpus).remote(asked.isomer, answers, str(results), i, shards, asked.cpus)
             for i in range(1, shards + 1)]
    files = [file for file in ray.get(tasks) if file]
    return subprocess.run([asked.isomer, "report", "merge", *files, "--html", str(results / "summary.html"),
                           "--jsonl", str(results / "all.jsonl")]).returncode


if __name__ == "__main__":
    sys.exit(main())
