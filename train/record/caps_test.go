package record_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"attention/graph"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/record"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The change of a large matrix is estimated from a part of it, with an error of 1 % at most.
func TestRecordEstimatesLargeChanges(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	w := must(p.Scope("").Param("w", layers.Normal(0, 1), 300, 301))
	loss := func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(graph.MSE(b.Node(w), in["x"], graph.LossConfig{}))
	}
	l := must(loop.New(p, loss, loop.Config{Steps: 1, StepConfig: train.StepConfig{
		Solver: train.SolverConfig{Name: train.SGD}, Schedule: train.ConstantRate(1000)}}))
	folder := t.TempDir()
	recordTo(t, l, folder, record.Config{Matrices: []record.Matrix{{Param: "w", Columns: 3}}})
	before := append([]float32(nil), w.Value().Float32s()...)
	source := &small.List{List: []train.Batch{{Inputs: train.Values{"x": small.Zeros(tensor.Float32, 300, 301)},
		Tokens: 1}}}
	require.NoError(t, l.Run(context.Background(), source, nil))
	change := 0.0
	for i, v := range w.Value().Float32s() {
		change += float64(v-before[i]) * float64(v-before[i])
	}
	records := readWatch(t, folder)
	got := records.Records[1].Params[0]
	require.InEpsilon(t, math.Sqrt(change), float64(got.Change), 0.01)
	require.Equal(t, got.Change, got.ChangeFromStart)
	require.Equal(t, tensor.Shape{2, 64, 3}, records.Matrices["w"].Shape())
}

// Limits that are exceeded, and names that are not in the model, are errors before the first step.
func TestOpenRefuses(t *testing.T) {
	m := small.New(t, tensor.Float32, 4, 0)
	node := func(shape ...int) func(b *layers.Build, _ layers.Inputs) (record.Probe, error) {
		return func(b *layers.Build, _ layers.Inputs) (record.Probe, error) {
			return record.Probe{Tensors: map[string]*G.Node{"big": b.Input("big", shape...)}}, nil
		}
	}
	for _, row := range []struct {
		want string
		c    record.Config
	}{
		{`matrix "no": got no parameter of two axes, want one`, record.Config{Matrices: []record.Matrix{{Param: "no"}}}},
		{`matrix "tokens.weight": got it twice, want it once`,
			record.Config{Matrices: []record.Matrix{{Param: "tokens.weight"}, {Param: "tokens.weight"}}}},
		{"tensors: got 131089 numbers of a record, want at most 131072", record.Config{Probe: node(13, 10083, 1),
			Matrices: []record.Matrix{{Param: "tokens.weight", Rows: 2, Columns: 5}}}},
		{"probe: layers: func of ids int (3): got a node of int, want one of float32 or float64",
			record.Config{Inputs: train.Values{"ids": tensor.New(tensor.Of(tensor.Int), tensor.WithShape(3))},
				Probe: func(_ *layers.Build, in layers.Inputs) (record.Probe, error) {
					return record.Probe{Nodes: G.Nodes{in["ids"]}}, nil
				}}},
		{"probe: layers: func of no values: output 0: got nil or a node of another graph, want one of the build's",
			record.Config{Probe: func(*layers.Build, layers.Inputs) (record.Probe, error) {
				return record.Probe{Nodes: G.Nodes{nil}}, nil
			}}},
		{"probe: layers: func of no values: no picture",
			record.Config{Probe: func(*layers.Build, layers.Inputs) (record.Probe, error) {
				return record.Probe{}, errors.New("no picture")
			}}},
	} {
		_, err := record.Open(m.Loop(t, small.Config()), t.TempDir(), row.c)
		require.EqualError(t, err, "train: record: "+row.want)
	}
	_, err := record.Open(m.Loop(t, small.Config()), t.TempDir(),
		record.Config{Matrices: []record.Matrix{{Param: "w", Rows: -1}}})
	require.EqualError(t, err, `train: record: matrix "w": got -1 rows and 0 columns, want at least 0`)
	_, err = record.Open(nil, t.TempDir(), record.Config{})
	require.EqualError(t, err, "train: record: got nil for the loop, want one")

	folder := t.TempDir()
	target := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(target, nil, 0o644))
	if os.Symlink(target, filepath.Join(folder, record.LinesFile)) == nil {
		_, err = record.Open(m.Loop(t, small.Config()), folder, record.Config{})
		require.ErrorContains(t, err, "got a symbolic link, want a regular file")
	}

	l := m.Loop(t, small.Config())
	rc := record.Config{Inputs: train.Values{"x": small.Zeros(tensor.Float32, 1)},
		Probe: func(_ *layers.Build, in layers.Inputs) (record.Probe, error) {
			return record.Probe{Nodes: G.Nodes{in["x"]}, Numbers: func([]*tensor.Dense) (map[string][]float64, error) {
				return map[string][]float64{"many": make([]float64, 1<<14+1)}, nil
			}}, nil
		}}
	recordTo(t, l, t.TempDir(), rc)
	require.EqualError(t, l.Run(context.Background(), small.Batches(1), nil),
		"train: record after 0 steps: probe: got 16385 numbers, want at most 16384")
}

// Read returns an error of one line for contents that no run writes, and reads the files that a killed run leaves.
func TestReadRefuses(t *testing.T) {
	whole := t.TempDir()
	must(recordedRun(t, whole, "", 0))
	files := recordFiles(t, whole)
	const line = `{"step":0,"params":[{"name":"w","norm":1,"change":null,"change_from_start":0,"gradient":null}]}` + "\n"
	read := func(lines, tensors string) (*record.Recording, error) {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, record.LinesFile), []byte(lines), 0o644))
		if tensors != "" {
			require.NoError(t, os.WriteFile(filepath.Join(folder, record.TensorsFile), []byte(tensors), 0o644))
		}
		w, err := record.Read(t.Context(), folder, nil)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			require.Contains(t, err.Error(), folder)
		}
		return w, err
	}
	for _, row := range []struct{ lines, tensors, want string }{
		{lines: "x\n", want: "line 1: invalid character"},
		{lines: line + line, want: "line 2: step: got 0 after 0, want a greater one"},
		{lines: `{"step":0,"params":[{"name":""}]}` + "\n", want: "params[0].name: got none, want a parameter's name"},
		{lines: `{"step":0,"params":[{"name":"w","norm":-1}]}` + "\n", want: "params[0]: got a norm of -1, want at least 0"},
		{lines: `{"step":0,"params":[{"name":"w","norm":3.5e38}]}` + "\n", want: "params[0]: got a norm of 3.5e+38, want at least 0"},
		{lines: string(make([]byte, 1<<20)) + "\n", want: "line 1: got more than 1048576 bytes, want a shorter line"},
		{lines: line, tensors: files[1][:len(files[1])-1], want: "damaged"},
		{lines: line, tensors: "no", want: "damaged"},
	} {
		_, err := read(row.lines, row.tensors)
		require.ErrorContains(t, err, row.want)
	}
	for _, row := range []struct{ format, steps, want string }{
		{"attention watch 9", "[0]", `format: got "attention watch 9", want "attention watch 1"`},
		{"attention watch 1", "x", "steps: "},
		{"attention watch 1", "[2,1]", "steps: got [2 1], want 1 to 32 ascending ones"},
		{"attention watch 1", "[2,2]", "steps: got [2 2], want 1 to 32 ascending ones"},
		{"attention watch 1", "[]", "steps: got [], want 1 to 32 ascending ones"},
		{"attention watch 1", "[0,1,2]", `tensor "probe.w": got float32 (2, 1), want float32 of 3 records`},
	} {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, record.LinesFile), []byte(line), 0o644))
		p := layers.NewParams(tensor.Float32, 1)
		must(p.Scope("probe").Param("w", layers.Normal(0, 1), 2, 1))
		require.NoError(t, checkpoint.WriteParams(filepath.Join(folder, record.TensorsFile), p,
			map[string]string{"format": row.format, "steps": row.steps}))
		_, err := record.Read(t.Context(), folder, nil)
		require.ErrorContains(t, err, row.want)
	}
	w, err := read(files[0][:len(files[0])-9], files[1])
	require.NoError(t, err, "a cut line")
	require.Len(t, w.Records, 7)
	w, err = read(line, "")
	require.NoError(t, err, "killed before the first tensors")
	require.True(t, math.IsNaN(float64(w.Records[0].Params[0].Change)))
	_, err = record.Read(t.Context(), t.TempDir(), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}
