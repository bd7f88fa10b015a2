#!/usr/bin/env bash
# Runs tests as arm64 does, under qemu: those of the packages given, or of all that compute. Arguments from the first
# that begins with a dash on go to the tests. It is slow: where amd64 takes a minute, take a quarter of an hour.
# Left out are tests that start themselves anew, which wants an arm64 machine.
#
#	internal/simd/emulate.sh ./internal/kernel -test.run TestGemm
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v qemu-aarch64-static >/dev/null; then
  apt-get install -y qemu-user-static
fi
anew="TestWriteOnAFullDisk|TestVariable|TestKernelsNotHad|TestSpecialsOnEachKernelSet"
packages=()
while [ $# -gt 0 ] && [[ $1 != -* ]]; do
  packages+=("$1")
  shift
done
if [ ${#packages[@]} -eq 0 ]; then
  packages=(./internal/simd ./internal/kernel ./internal/torchrand ./graph/... ./layers/... ./train/...)
fi
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
status=0
for package in $(go list "${packages[@]}"); do
  GOARCH=arm64 CGO_ENABLED=0 go test -c -o "$bin/test" "$package"
  if [ -e "$bin/test" ]; then
    echo "$package"
    (cd "$(go list -f '{{.Dir}}' "$package")" &&
      nice -n 10 qemu-aarch64-static "$bin/test" -test.short -test.skip "$anew" "$@") || status=1
    rm "$bin/test"
  fi
done
exit $status
