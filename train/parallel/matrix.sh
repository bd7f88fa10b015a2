#!/bin/sh
# matrix.sh installs an MPI, unless there is one, and runs the tests of this package that want mpirun: runs of 1 to 4
# processes against one, kills, signals and refusals. It wants Debian or Ubuntu, root and Go.
#
#	sh train/parallel/matrix.sh [openmpi-bin | mpich]
set -eu
cd "$(dirname "$0")"
MPIRUN=mpirun
case "${1:-}" in
openmpi-bin) MPIRUN=mpirun.openmpi ;;
mpich) MPIRUN=mpirun.mpich ;;
esac
export MPIRUN
command -v $MPIRUN >/dev/null || { apt-get update -q && apt-get install -yq "${1:-openmpi-bin}"; }
$MPIRUN --version
CGO_ENABLED=0 go vet -tags mpi ./...
CGO_ENABLED=0 go test -count=1 -v -tags mpi .
