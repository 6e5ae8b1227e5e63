#!/usr/bin/env bash
# Judges a folder of candidates as a Slurm array: each task of the array takes a shard, and goes on where it was stopped.
#
#   sbatch --array=1-64 --cpus-per-task=8 --requeue slurm.sh ANSWERS RESULTS
#   isomer report merge RESULTS/*.jsonl --html summary.html
set -euo pipefail
answers=${1:?expected the folder of answers} results=${2:?expected a folder for the results}
first=${SLURM_ARRAY_TASK_MIN:-1} last=${SLURM_ARRAY_TASK_MAX:-1} task=${SLURM_ARRAY_TASK_ID:-1}
mkdir -p "$results"
# A cache of the node's own: what is compiled is used by this shard alone.
export ISOMER_CACHE=${ISOMER_CACHE:-${TMPDIR:-/tmp}/isomer-$(id -u)}
status=0 said=$(mktemp)
trap 'rm -f "$said"' EXIT
"${ISOMER:-isomer}" check "$answers" --jobs "${SLURM_CPUS_PER_TASK:-$(nproc)}" \
  --shard "$((task - first + 1))/$((last - first + 1))" --resume "$results/$task.jsonl" 2>"$said" || status=$?
cat "$said" >&2
# 1: some candidates fail. 2: some could not be judged. 3: the shard holds no folder. None of them is a fault of the task.
[ "$status" -le 3 ] || exit "$status"
# But 2 with a sentence is: there is no such folder, or another batch has the file.
[ "$status" != 2 ] || ! grep -q '^isomer: ' "$said"
