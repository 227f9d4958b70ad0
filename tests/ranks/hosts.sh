# Sourced. "Hosts" h1 .. hN on this machine: network namespaces with addresses and host names of their own, joined
# by a bridge in one more namespace. No interface of the machine is touched. For root.
#
#   start_hosts COUNT
#   limit_cables COUNT RATE   both ends of each, as in 1gbit; "none" lifts it
#   cut_cable I               of host I
#   on_hosts N COMMAND...     mpirun with one process on each of the first N
#   stop_hosts                ends what runs on them, too

hosts_prefix=weft$$
hosts_options=(--bind-to none --mca btl "tcp,self" --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0
  --mca oob_tcp_keepalive_time 3 --mca oob_tcp_keepalive_intvl 2 --mca oob_tcp_keepalive_probes 3)

start_hosts() {
  local count=$1 switch=$hosts_prefix-switch i j host
  hosts_agent=$(mktemp)
  # mpirun starts its daemons with this in the place of ssh: AGENT HOST "COMMAND".
  cat >"$hosts_agent" <<AGENT
#!/bin/sh
host=\$1
shift
exec ip netns exec "$hosts_prefix-\$host" unshare --uts sh -c "hostname \$host; exec sh -c \"\\\$0\"" "\$*"
AGENT
  chmod +x "$hosts_agent"
  ip netns add "$switch" &&
    ip -n "$switch" link add bridge type bridge &&
    ip -n "$switch" link set bridge up || return
  for ((i = 1; i <= count; i++)); do
    host=$hosts_prefix-h$i
    ip netns add "$host" &&
      ip -n "$switch" link add "p$i" type veth peer name eth0 netns "$host" &&
      ip -n "$switch" link set "p$i" master bridge up &&
      ip -n "$host" addr add "10.77.0.$i/24" dev eth0 &&
      ip -n "$host" link set lo up &&
      ip -n "$host" link set eth0 up || return
    mkdir -p "/etc/netns/$host"
    { echo "127.0.0.1 localhost"; for ((j = 1; j <= count; j++)); do echo "10.77.0.$j h$j"; done; } \
      >"/etc/netns/$host/hosts"
  done
}

limit_cables() {
  local i limit=(tbf rate "$2" burst 256kb latency 50ms)
  for ((i = 1; i <= $1; i++)); do
    if [ "$2" = none ]; then
      tc -n "$hosts_prefix-h$i" qdisc del dev eth0 root
      tc -n "$hosts_prefix-switch" qdisc del dev "p$i" root
    else
      tc -n "$hosts_prefix-h$i" qdisc add dev eth0 root "${limit[@]}"
      tc -n "$hosts_prefix-switch" qdisc add dev "p$i" root "${limit[@]}"
    fi
  done
}

on_hosts() {
  local count=$1 list
  shift
  list=$(seq -s, -f "h%g" "$count")
  "$hosts_agent" h1 "$(printf '%q ' mpirun --mca plm_rsh_agent "$hosts_agent" --host "$list" \
    "${hosts_options[@]}" -n "$count" "$@")"
}

cut_cable() { ip -n "$hosts_prefix-switch" link set "p$1" down; }

stop_hosts() {
  local name pid
  for name in $(ip netns list | awk -v own="$hosts_prefix-" 'index($1, own) == 1 {print $1}'); do
    for pid in $(ip netns pids "$name"); do kill -KILL "$pid" 2>/dev/null; done
    ip netns del "$name"
    rm -rf "/etc/netns/$name"
  done
  rm -f -- "$hosts_agent"
}
