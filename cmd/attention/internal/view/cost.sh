#!/bin/sh
# cost.sh measures what --view costs a run, on a machine that does nothing else: in turns without a page, with one that
# nobody looks at, and with one that Chromium shows. It prints the mean milliseconds of a step, without the first
# two hundred, in which the browser starts; ratios of medians tell.
#
#	sh cost.sh TEXT [ROUNDS]
set -eu
text=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
(cd "$(dirname "$0")" && go build -o "$dir/attention" attention/cmd/attention)
cd "$dir"

# train trains with more flags, looks at the page if it is to, and prints the time of a step.
train() {
  name=$1 looks=$2
  shift 2
  ./attention train --preset nano-char --text "$text" --steps 2000 --eval-every 250 --save-every 0 \
    --out run "$@" >log 2>&1 &
  run=$!
  if [ "$looks" = yes ]; then
    until url=$(grep -o 'http://[^ ]*' log); do sleep 0.1; done
    chromium --headless --no-sandbox --disable-gpu --user-data-dir=browser \
      --remote-debugging-port=0 "$url" >/dev/null 2>&1 &
    browser=$!
  fi
  until grep -q 'steps in' log; do sleep 0.2; done
  grep -o '"tokens_per_second":[0-9.e+]*' run/metrics.jsonl | tail -n +201 |
    awk -F: -v name="$name" '{s += 768 / $2} END {printf "%s %.2f ms\n", name, 1000 * s / NR}'
  kill -INT $run 2>/dev/null || : # a run without a page has ended
  wait $run || :
  if [ "$looks" = yes ]; then
    kill $browser 2>/dev/null || :
    wait $browser || :
  fi
  rm -rf run
}

for _ in $(seq "${2:-5}"); do
  train alone no
  train unseen no --view
  train seen yes --view
done
