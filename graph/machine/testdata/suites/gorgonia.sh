#!/usr/bin/env bash
# Runs the tests of Gorgonia v0.9.18 with this module's machine in NewTapeMachine's place, every value kept, and counts
# those that pass. The module is copied from Go's cache into a temporary folder, and the copy's tests are changed.
#
#	graph/machine/testdata/suites/gorgonia.sh [-tape] [-v]
#
# -tape runs them on the tape machine, -v prints what those that fail print.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../../.." && pwd)
machine=NewMachineOfTest verbose=
for flag; do
	case $flag in
	-tape) machine=NewTapeMachineOfTest ;;
	-v) verbose=1 ;;
	*) echo "$0: got $flag, want -tape or -v" >&2; exit 2 ;;
	esac
done

cd "$root"
module=$(go list -m -f '{{.Dir}}' gorgonia.org/gorgonia)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp "$module"/*.go "$module"/*.s "$copy"
cp -r "$module/internal" "$copy"
mkdir -p "$copy/examples/tiny-yolo-v3-coco/data"
cp -r "$module/examples/tiny-yolo-v3-coco/data/test_yolo_op" "$copy/examples/tiny-yolo-v3-coco/data"
chmod -R u+w "$copy"
sed -e 's,^module .*,module gorgonia.org/gorgonia,' -e '/gorgonia.org\/gorgonia v/d' -e '/^ignore/d' \
	-e "s,=> \./,=> $root/," go.mod > "$copy/go.mod"
cp go.sum "$copy"
cd "$copy"
go mod edit -require attention@v0.0.0 -replace "attention=$root"

# A test that looks into the tape machine stays as it is.
sed -i "s,\bNewTapeMachine(,$machine(,; s,\*tapeMachine\b,*machineOfTest," ./*_test.go
sed -i "/^func Test_tapeMachine_Reset/,/^}/s,$machine,NewTapeMachine," vm_tape_test.go

cat > machineoftest.go <<'GO'
package gorgonia

// ForGraphOfTest makes the machine that is tested.
var ForGraphOfTest func(g *ExprGraph, evaluate bool) (VM, error)

// machineOfTest has what the tests ask of a tape machine besides running.
type machineOfTest struct {
	VM
	g *ExprGraph
}

func (m *machineOfTest) Let(n *Node, v interface{}) error { return Let(n, v) }

func (m *machineOfTest) Prog() *program {
	p, _, err := Compile(m.g)
	if err != nil {
		panic(err)
	}
	return p
}

// NewMachineOfTest stands for NewTapeMachine.
func NewMachineOfTest(g *ExprGraph, opts ...VMOpt) *machineOfTest {
	t := &tapeMachine{}
	for _, opt := range opts {
		opt(t)
	}
	m, err := ForGraphOfTest(g, t.evalMode)
	if err != nil {
		panic(err)
	}
	return &machineOfTest{m, g}
}

// NewTapeMachineOfTest is NewTapeMachine.
func NewTapeMachineOfTest(g *ExprGraph, opts ...VMOpt) *machineOfTest {
	return &machineOfTest{NewTapeMachine(g, opts...), g}
}
GO
cat > machineoftest_test.go <<'GO'
package gorgonia_test

import (
	"attention/graph/machine"

	"gorgonia.org/gorgonia"
)

func init() {
	gorgonia.ForGraphOfTest = func(g *gorgonia.ExprGraph, evaluate bool) (gorgonia.VM, error) {
		return machine.GraphConfig{KeepAll: true, Evaluate: evaluate}.ForGraph(g)
	}
}
GO
GOFLAGS=-mod=mod go test -vet=off -c -o suite .
passed=0 all=0
for name in $(./suite -test.list '^Test'); do # each in a process of its own: one that panics ends no other
	all=$((all + 1))
	if ./suite -test.v -test.run "^$name\$" > out 2>&1; then
		if grep -q '^--- SKIP' out; then all=$((all - 1)); else passed=$((passed + 1)); fi
		continue
	fi
	echo "--- FAIL: $name"
	if [[ -n $verbose ]]; then cat out; fi
done
echo "$passed of $all tests pass"
