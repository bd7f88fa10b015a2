#!/bin/sh
# network.sh measures two processes in two network namespaces, whose link tc limits: the time of an all-reduce by its
# size, and the speed of a run of nano-char, which README.md's model of many nodes is held against. It wants root, Go,
# Open MPI, ip and tc.
#
#	sh train/parallel/network.sh [RATE [TEXT]]    # such as 1gbit, and a file of some 100 kB
set -eu
rate=${1:-1gbit} text=${2:-} burst=256kb
case $rate in *[0-9][0-9]gbit) burst=2mb ;; esac
[ -z "$text" ] || text=$(realpath "$text")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
undo() {
	ip netns del attention0 2>/dev/null || true
	ip netns del attention1 2>/dev/null || true
}
undo
trap 'undo; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
CGO_ENABLED=0 go build -tags mpi -o "$work/attention" ./cmd/attention
CGO_ENABLED=0 go test -c -tags mpi -o "$work/test" ./train/parallel

for i in 0 1; do
	ip netns add attention$i
	ip -n attention$i link set lo up
done
ip link add attention0 netns attention0 type veth peer name attention1 netns attention1
for i in 0 1; do
	ip -n attention$i addr add 10.99.0.$((i + 1))/24 dev attention$i
	ip -n attention$i link set attention$i up
	ip netns exec attention$i tc qdisc add dev attention$i root tbf rate "$rate" burst "$burst" latency 50ms
done

# In ssh's place: mpirun runs in the one namespace and starts its daemon in the other.
cat >"$work/agent" <<'END'
#!/bin/sh
shift
exec ip netns exec attention1 sh -c "$*"
END
chmod +x "$work/agent"
both() {
	ip netns exec attention0 mpirun --allow-run-as-root --bind-to none --map-by node -np 2 \
		--host 10.99.0.1,10.99.0.2 --mca plm_rsh_agent "$work/agent" --mca oob_tcp_if_include 10.99.0.0/24 \
		--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include 10.99.0.0/24 "$@"
}
both "$work/test" -test.run AllReduceTime -test.v
[ -z "$text" ] || both "$work/attention" train --preset nano-char --text "$text" --accumulate 2 --steps 100 \
	--eval-every 0 --eval-batches 1 --sample 0 --out "$work/run"
