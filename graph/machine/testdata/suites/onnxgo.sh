#!/usr/bin/env bash
# Runs the stored cases of onnx-go v0.5.0, those of the ONNX standard, on the tape machine and on this module's machine,
# and counts those that each gets right. The program is made in a temporary folder; Go fetches onnx-go.
#
#	graph/machine/testdata/suites/onnxgo.sh [-v]
#
# -v prints what the cases print that the tape machine gets right and this machine does not.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sed -e 's,^module .*,module onnxcases,' -e '/^ignore/d' -e "s,=> \./,=> $root/," "$root/go.mod" > "$folder/go.mod"
cp "$root/go.sum" "$folder"
cd "$folder"
go mod edit -require attention@v0.0.0 -replace "attention=$root" -require github.com/owulveryck/onnx-go@v0.5.0

cat > cases_test.go <<'GO'
package onnxcases

import (
	"testing"

	"attention/graph/machine"

	"github.com/owulveryck/onnx-go/backend/testbackend"
	_ "github.com/owulveryck/onnx-go/backend/testbackend/onnx"
	"github.com/owulveryck/onnx-go/backend/x/gorgonnx"
)

// ours runs a model on this module's machine.
type ours struct{ *gorgonnx.Graph }

func (o *ours) Run() error {
	g, err := o.GetExprGraph()
	if err != nil {
		return err
	}
	m, err := machine.ForGraph(g)
	if err != nil {
		return err
	}
	o.SetVM(m)
	return o.Graph.Run()
}

func TestTape(t *testing.T) {
	for _, made := range testbackend.GetAllRegisteredTests() {
		c := made()
		t.Run(c.GetInfo(), c.RunTest(gorgonnx.NewGraph(), false))
	}
}

func TestOurs(t *testing.T) {
	for _, made := range testbackend.GetAllRegisteredTests() {
		c := made()
		t.Run(c.GetInfo(), c.RunTest(&ours{gorgonnx.NewGraph()}, false))
	}
}
GO
GOFLAGS=-mod=mod go test -vet=off -c -o cases .
for name in Tape Ours; do
	./cases -test.v -test.run "^Test$name\$" > $name 2>&1 || true
	sed -n "s,^ *--- PASS: Test$name/\([^ ]*\).*,\1,p" $name | sort > $name.passed
done
for case in $(comm -23 Tape.passed Ours.passed); do
	echo "--- FAIL: $case"
	if [[ ${1-} == -v ]]; then ./cases -test.v -test.run "^TestOurs\$/^$case\$" || true; fi
done
echo "$(wc -l < Tape.passed) cases pass on the tape machine, $(comm -12 Tape.passed Ours.passed | wc -l) of them on this" \
	"machine, and $(comm -13 Tape.passed Ours.passed | wc -l) more"
