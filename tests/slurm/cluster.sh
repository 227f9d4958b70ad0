# Sourced. A Slurm on loopback: munged, slurmctld and slurmd n1 .. nN with two processors each, all of its
# state in one directory, which must not be writable for others.
#
#   start_cluster DIR NODES    exports SLURM_CONF
#   stop_node DIR NODE         as a power cut would: the daemon and all that it started
#   stop_cluster DIR

write_slurm_configuration() { # DIR NODES PORT
  cat >"$1/slurm.conf" <<CONF
ClusterName=weft
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$3
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$1/munge.sock
CredType=cred/munge
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool.%n
TmpFS=$1/tmp.%n
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.%n.pid
SlurmctldLogFile=$1/log/slurmctld.log
SlurmdLogFile=$1/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,bf_interval=2,sched_min_interval=0
JobRequeue=1
KillWait=5
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=5
MinJobAge=300
MaxArraySize=1001
NodeName=n[1-$2] NodeHostname=n[1-$2] NodeAddr=127.0.0.1 Port=[$(($3 + 1))-$(($3 + $2))] CPUs=2 State=UNKNOWN
PartitionName=main Nodes=n[1-$2] Default=YES MaxTime=60 State=UP OverSubscribe=NO
CONF
}

start_cluster() { # DIR NODES
  local dir=$1 nodes=$2 port=$((10000 + $$ % 20000)) i # below those that the system gives away
  mkdir -p "$dir/state" "$dir/log"
  for i in $(seq "$nodes"); do mkdir "$dir/tmp.n$i"; done # PMIx of a step would meet that of another node
  dd if=/dev/urandom of="$dir/munge.key" bs=1 count=1024 status=none
  chmod 600 "$dir/munge.key"
  munged --force --key-file="$dir/munge.key" --socket="$dir/munge.sock" --pid-file="$dir/munged.pid" \
    --log-file="$dir/log/munged.log" --seed-file="$dir/munge.seed" --num-threads=2 || return
  write_slurm_configuration "$dir" "$nodes" "$port"
  export SLURM_CONF=$dir/slurm.conf
  slurmctld -c || return
  for i in $(seq "$nodes"); do # each has a name of its own
    unshare --uts sh -c "hostname n$i && exec slurmd -N n$i" || return
  done
  for i in $(seq 100); do
    [ "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" = "$nodes" ] && return
    sleep 0.1
  done
  return 1
}

stop_node() { # DIR NODE
  # All that a node runs is in the host-name space of its daemon, and nothing else is.
  local space process all=()
  space=$(readlink "/proc/$(cat "$1/slurmd.$2.pid" 2>/dev/null)/ns/uts") || return 0
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/ns/uts" 2>/dev/null)" != "$space" ] || all+=("${process#/proc/}")
  done
  kill -KILL "${all[@]}" 2>/dev/null
  rm -f -- "$1/slurmd.$2.pid"
}

stop_cluster() { # DIR
  local pid node
  scancel -u root 2>/dev/null
  for node in "$1"/slurmd.*.pid; do
    node=${node#"$1"/slurmd.}
    stop_node "$1" "${node%.pid}"
  done
  for pid in "$1"/slurmctld.pid "$1"/munged.pid; do
    [ ! -f "$pid" ] || kill "$(cat "$pid")" 2>/dev/null
  done
  true
}
