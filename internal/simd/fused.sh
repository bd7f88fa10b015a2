#!/usr/bin/env bash
# Lists where Go's compiler for arm64 fuses a product and a sum of plain Go into one rounding, which that for amd64 does
# not: of the packages given, or of those whose results are the same on every machine. An explicit conversion of the
# product, as in x + float64(y*z), keeps the two apart. What the source calls FMA itself, or is exact as in fma32, stays.
set -euo pipefail
cd "$(dirname "$0")/../.."
packages=("$@")
if [ ${#packages[@]} -eq 0 ]; then
  packages=(./internal/torchrand ./train)
fi
GOARCH=arm64 go build -gcflags=-S "${packages[@]}" 2>&1 |
  awk -v here="$PWD/" '
    /STEXT/ { name = $1 }
    match($0, /\([^()]*\.go:[0-9]+\)\tFN?M(ADD|SUB)[SD]/) {
      split(substr($0, RSTART + 1), place, /[:)]/)
      file = place[1]; line = ""
      for (i = 1; i <= place[2]; i++) if ((getline line < file) <= 0) break
      close(file)
      if (line !~ /FMA\(/ && name !~ /\.fma32$/) { sub(here, "", file); print file ":" place[2], name }
    }' | sort -u
