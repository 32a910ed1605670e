#!/bin/bash
# A sweep under a real Slurm of one node, which this script starts and ends: slurm_test.sh ATTNVP SOURCE_DIR
# Needs root and the packages slurm-wlm and munge; otherwise exits with 77, which CTest reports as skipped.
set -uo pipefail

attnvp=$(realpath -- "$1")
cd -- "$2" || exit 1
skip() { echo "skipped: $*" && exit 77; }
[[ $EUID -eq 0 ]] || skip 'slurmd wants to be root'
for program in munged slurmctld slurmd sbatch squeue; do
  command -v "$program" >/dev/null || skip "$program is not installed (packages slurm-wlm and munge)"
done

folder=$(mktemp -d)
chmod 755 "$folder"
daemons=()
finish() {
  for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null; done
  wait
  rm -rf -- "$folder"
}
trap finish EXIT
cd -- "$folder" || exit 1
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  tail -5 ./*.log 2>/dev/null >&2
  exit 1
}

# munge: authentication between the daemons, with its own key and socket.
mkdir -m 700 munge && mkdir -m 755 socket
dd if=/dev/urandom of=munge/key bs=1 count=128 status=none && chmod 400 munge/key
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/socket/munge" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" >munged.log 2>&1 &
daemons+=($!)

host=$(hostname -s)
port=$((20000 + RANDOM % 10000))
mkdir state spool
cat >slurm.conf <<CONF
ClusterName=attnvp
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/socket/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MinJobAge=600
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
for ((i = 0; i < 50; ++i)); do [[ -S socket/munge ]] && break || sleep 0.1; done
slurmctld -D >slurmctld.out.log 2>&1 &
daemons+=($!)
slurmd -D -N "$host" >slurmd.out.log 2>&1 &
daemons+=($!)
for ((i = 0; i < 300; ++i)); do [[ $(sinfo -h -o %t 2>/dev/null) == idle ]] && break || sleep 0.1; done
[[ $(sinfo -h -o %t) == idle ]] || fail "the node does not come up: $(sinfo 2>&1)"

cat >s.yaml <<'YAML'
# 240 jobs
network: H=4,N=256,E=64
dataflow: [layerwise, softpipe, flat, tileflow, mas]
axes:
  cores: [1, 2]
  vec.lanes: {from: 64, to: 512, points: 8}
  l1.size: [256 KiB, 1 MiB, 4 MiB]
YAML
"$attnvp" sweep s.yaml --db whole.db >/dev/null || fail 'the sweep without Slurm'
"$attnvp" sweep s.yaml --db s.db --slurm --shards 4 --slurm-option=--time=10 >submitted || fail 'submitting'
cat submitted
for ((i = 0; i < 1200; ++i)); do [[ -z $(squeue -h) ]] && break || sleep 0.1; done
[[ -z $(squeue -h) ]] || fail "still in the queue: $(squeue)"
[[ -f s.db ]] || fail "no merged database: $(cat s.slurm/*.log)"
grep -q '^database .*/s.db, 240 rows$' s.slurm/merge.log || fail "the merge says: $(<s.slurm/merge.log)"
rows() { sqlite3 "$1" 'SELECT * FROM jobs ORDER BY key'; }
cmp <(rows whole.db) <(rows s.db) || fail 'Slurm gave other rows'
for k in 1 2 3 4; do
  [[ $(sqlite3 "s.slurm/shard-$k-of-4.db" 'SELECT count(*) FROM jobs') -gt 0 ]] || fail "shard $k did nothing"
done

# A lost shard: the merge job reports it, and a second submission runs the missing jobs.
rm s.db s.slurm/shard-3-of-4.db s.slurm/*.log
"$attnvp" sweep s.yaml --db s.db --slurm --shards 4 >/dev/null || fail 'submitting again'
for ((i = 0; i < 1200; ++i)); do [[ -z $(squeue -h) ]] && break || sleep 0.1; done
cmp <(rows whole.db) <(rows s.db) || fail 'submitting again gave other rows'
grep -q '^done before  *60$' s.slurm/shard-1.log || fail "shard 1 began anew: $(<s.slurm/shard-1.log)"
echo 'a sweep under Slurm equals one without'
