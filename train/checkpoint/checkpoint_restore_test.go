package checkpoint_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// refusal is a change to a checkpoint and the error that it causes.
type refusal struct {
	want  string
	spoil func(f *safetensors.File)
}

// set returns a change of one entry of the metadata.
func set(key, value string) func(*safetensors.File) {
	return func(f *safetensors.File) { f.Metadata[key] = value }
}

// setState returns a change of one value of the state in the metadata, in JSON.
func setState(key, value string) func(*safetensors.File) {
	return func(f *safetensors.File) { small.SetState(f, key, value) }
}

var metadataRefusals = []refusal{
	{want: `format: got "", want "attention checkpoint 3"`,
		spoil: func(f *safetensors.File) { clear(f.Metadata) }},
	{want: `format: got "attention checkpoint 2", want "attention checkpoint 3"`,
		spoil: set("format", "attention checkpoint 2")},
	{want: `state: steps: got -1, want at least 0`, spoil: setState("steps", "-1")},
	{want: `state: steps: got 1.5, want a whole number`, spoil: setState("steps", "1.5")},
	{want: `state: evaluated: got "x", want a whole number`, spoil: setState("evaluated", `"x"`)},
	{want: `state: best.tokens: got -1, want at least 0`, spoil: setState("best", `{"tokens":-1}`)},
	{want: `state: observed: got -2, want at least -1`, spoil: setState("observed", "-2")},
	{want: `state: not JSON: unexpected end of JSON input, want one JSON object`, spoil: set("state", "{")},
	{want: `state: kernels: got none, want a name`, spoil: setState("kernels", "")},
	{want: `source: illegal base64 data at input byte 0`, spoil: setState("source", `"?"`)},
	{want: `source: text: windows: state of 3 bytes: invalid PCG encoding`, spoil: setState("source", `"AAAA"`)},
	{want: `source: got none, want the state of one: it was saved without`, spoil: setState("source", "")},
	{want: `heads: got "4", want the loop's ""; text: got "", want the loop's "novel"; ` +
		`width: got "7", want the loop's "6"`,
		spoil: func(f *safetensors.File) {
			delete(f.Metadata, "about.text")
			f.Metadata["about.width"], f.Metadata["about.heads"] = "7", "4"
		}},
	{want: "solver: got adam(beta1=0.9 beta2=0.999 eps=1e-08 weight_decay=0 of all), " +
		"want the loop's adamw(beta1=0.9 beta2=0.999 eps=1e-08 weight_decay=0 of all)",
		spoil: setState("config", `{"solver":{"name":"adam"}}`)},
}

// tensorRefusals are the refusals about tensors of the test's model.
func tensorRefusals(t *testing.T) []refusal {
	tensorAt := func(f *safetensors.File, name string) *safetensors.Tensor {
		for i := range f.Tensors {
			if f.Tensors[i].Name == name {
				return &f.Tensors[i]
			}
		}
		t.Fatalf("no tensor %s", name)
		return nil
	}
	return []refusal{
		{want: "missing params.output.bias, solver.exp_avg.tokens.weight; " +
			"unknown params.output.gain, solver.exp_avg.token.weight; " +
			"params.tokens.weight is float64 (6, 11), want float64 (11, 6), " +
			"params.attention.out_proj.bias is float64 (14, 1), want float64 (14), " +
			"params.output.weight is float32 (11, 14), want float64 (11, 14) and 1 more",
			spoil: func(f *safetensors.File) {
				tensorAt(f, "params.output.bias").Name = "params.output.gain"
				tensorAt(f, "solver.exp_avg.tokens.weight").Name = "solver.exp_avg.token.weight"
				tensorAt(f, "params.tokens.weight").Shape = []int{6, 11}
				tensorAt(f, "params.attention.out_proj.bias").Shape = []int{14, 1}
				tensorAt(f, "params.output.weight").Data = make([]float32, 11*14)
				tensorAt(f, "solver.step").Data = []int32{1}
			}},
		{want: "params.output.bias is float64 (0), want float64 (11)",
			spoil: func(f *safetensors.File) {
				p := tensorAt(f, "params.output.bias")
				p.Shape, p.Data = []int{0}, []float64{}
			}},
		{want: "solver state: step: got -1, want a number >= 0",
			spoil: func(f *safetensors.File) { tensorAt(f, "solver.step").Data = []int64{-1} }},
	}
}

func TestRestoreRefusesWithoutChangingAnything(t *testing.T) {
	dir := t.TempDir()
	path, bad, state := filepath.Join(dir, "good"), filepath.Join(dir, "bad"), filepath.Join(dir, "state")
	c := small.Config()
	c.About = map[string]string{"text": "novel", "width": "6"}
	saver := small.New(t, tensor.Float64, 7, 0).Loop(t, c)
	must(saver.Step(small.Batch(0)))
	require.NoError(t, checkpoint.Save(saver, path, small.Texts(t)["random"]))

	m, source := small.New(t, tensor.Float64, 8, 0), small.Texts(t)["random"]
	l := m.Loop(t, c)
	for n := range 3 {
		must(l.Step(small.Batch(uint64(n))))
		must(source.Next())
	}
	// A checkpoint is the whole state of a loop.
	snapshot := func() []byte {
		require.NoError(t, checkpoint.Save(l, state, source))
		return must(os.ReadFile(state))
	}
	before := snapshot()
	for _, row := range append(tensorRefusals(t), metadataRefusals...) {
		f := must(safetensors.ReadFile(path))
		row.spoil(f)
		require.NoError(t, folder.WriteFile(bad, func(w io.Writer) error { return safetensors.WriteSealed(w, f) }))
		require.EqualError(t, small.Restore(l, bad, source), "train: checkpoint: "+bad+": "+row.want)
		require.Equal(t, before, snapshot(), row.want)
	}
	err := small.Restore(l, filepath.Join(dir, "none"), source)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "train: checkpoint: ")
	nowhere := filepath.Join(dir, "no", "such", "directory")
	require.ErrorContains(t, checkpoint.Save(l, nowhere, nil), "train: checkpoint after 3 steps: ")

	require.NoError(t, small.Restore(l, path, nil), "a source that the caller sees to")
	require.Equal(t, 1, l.Steps())
	require.NoError(t, small.Restore(l, path, source))
	require.Equal(t, small.Texts(t)["random"].State(), source.State())
}

// tinyLoop has one parameter of three numbers.
func tinyLoop(t *testing.T, c loop.Config) (*loop.Loop, layers.Param) {
	p := layers.NewParams(tensor.Float64, 0)
	w := must(p.Scope("").Param("w", layers.Constant(1), 3))
	l := must(loop.New(p, func(b *layers.Build, _ layers.Inputs) []*G.Node {
		return b.Nodes(G.Sum(G.Must(G.Square(b.Node(w)))))
	}, c))
	return l, w
}

// A change of any byte of a checkpoint is detected, and so is a truncation at any place.
func TestEveryDamageIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	c := small.Config()
	c.About = map[string]string{`"sha256":"`: `"sha256":"` + strings.Repeat("0", 64) + `"`}
	l, w := tinyLoop(t, c)
	must(l.Step(train.Batch{}))
	require.NoError(t, checkpoint.Save(l, path, small.Texts(t)["random"]))
	whole := must(os.ReadFile(path))
	before := append([]float64{}, w.Value().Float64s()...)
	must(l.Step(train.Batch{}))
	requireDamaged := func(content []byte, what string, at int) {
		require.NoError(t, os.WriteFile(path, content, 0o644))
		err := small.Restore(l, path, nil)
		require.ErrorIs(t, err, checkpoint.ErrDamaged, "%s byte %d of %d", what, at, len(whole))
		require.ErrorContains(t, err, "train: checkpoint: "+path+": damaged: ")
		require.Equal(t, 2, l.Steps())
	}
	for at := range whole {
		changed := append([]byte{}, whole...)
		changed[at] ^= 1 << (at % 8)
		requireDamaged(changed, "a bit of", at)
		requireDamaged(whole[:at], "cut before", at)
	}
	requireDamaged(append(append([]byte{}, whole...), 0), "longer than", len(whole))

	require.NoError(t, os.WriteFile(path, whole, 0o644))
	require.NoError(t, small.Restore(l, path, nil))
	require.Equal(t, before, w.Value().Float64s())
	require.Equal(t, 1, l.Steps())
}

func TestDamageErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	l, w := tinyLoop(t, small.Config())
	require.NoError(t, checkpoint.Save(l, path, nil))
	whole := must(os.ReadFile(path))

	require.NoError(t, os.WriteFile(path, whole[:len(whole)-1], 0o644))
	require.ErrorContains(t, small.Restore(l, path, nil), `but the file holds only 79 bytes of data`)

	changed := append([]byte{}, whole...)
	changed[len(changed)-1] ^= 1
	require.NoError(t, os.WriteFile(path, changed, 0o644))
	require.Regexp(t, `: damaged: checksum: got [0-9a-f]{64}, want [0-9a-f]{64}$`, small.Restore(l, path, nil).Error())

	require.NoError(t, checkpoint.WriteParams(path, layers.NewParams(w.Value().Dtype(), 1), nil))
	require.EqualError(t, small.Restore(l, path, nil), "train: checkpoint: "+path+
		`: format: got "", want "attention checkpoint 3"`)
	require.NoError(t, safetensors.WriteFile(path, &safetensors.File{}))
	require.EqualError(t, small.Restore(l, path, nil),
		"train: checkpoint: "+path+`: damaged: checksum: got none, want 64 digits`)

	// Rewritten by another program: intact, but without the checksum.
	require.NoError(t, os.WriteFile(path, whole, 0o644))
	f := must(safetensors.ReadFile(path))
	f.Metadata["more"] = "words"
	require.NoError(t, safetensors.WriteFile(path, f))
	require.ErrorIs(t, small.Restore(l, path, nil), checkpoint.ErrDamaged)
}

// cutting is a source that truncates a file when its position is set.
type cutting struct {
	train.Resumable
	path string
}

func (c cutting) SetState(state []byte) error {
	if err := os.Truncate(c.path, 9000); err != nil {
		return err
	}
	return c.Resumable.SetState(state)
}

// If a file ends while it is read, the loop does not train until it is restored.
func TestRestoreOfAFileThatEnds(t *testing.T) {
	dir := t.TempDir()
	path, bad := filepath.Join(dir, "whole"), filepath.Join(dir, "bad")
	m := small.New(t, tensor.Float64, 7, 0)
	l, source := m.Loop(t, small.Config()), small.Texts(t)["random"]
	must(l.Step(small.Batch(0)))
	for _, to := range []string{path, bad} {
		require.NoError(t, checkpoint.Save(l, to, source))
	}
	err := small.Restore(l, bad, cutting{source, bad})
	require.ErrorContains(t, err, "unexpected EOF")
	_, err = l.Step(small.Batch(1))
	const torn = "train: loop: got one whose checkpoint could not be read to its end, want it restored"
	require.EqualError(t, err, torn)
	require.EqualError(t, checkpoint.Save(l, bad, source), torn)
	require.NoError(t, small.Restore(l, path, source))
	must(l.Step(small.Batch(1)))
}
