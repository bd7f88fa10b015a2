package train_test

import (
	"os"
	"path/filepath"
	"testing"

	"attention/internal/folder"
	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// refusals are spoilt checkpoints of saver's and what is said of them.
func refusals(t *testing.T) map[string]func(f *safetensors.File) {
	tensorAt := func(f *safetensors.File, name string) *safetensors.Tensor {
		for i := range f.Tensors {
			if f.Tensors[i].Name == name {
				return &f.Tensors[i]
			}
		}
		t.Fatalf("no tensor %s", name)
		return nil
	}
	return map[string]func(f *safetensors.File){
		`format: got "", want "attention checkpoint 2"`: func(f *safetensors.File) { clear(f.Metadata) },
		`format: got "attention checkpoint 1", want "attention checkpoint 2"`: func(f *safetensors.File) {
			f.Metadata["format"] = "attention checkpoint 1"
		},
		`step: got "", want a whole number >= 0`:                               func(f *safetensors.File) { delete(f.Metadata, "step") },
		`step: got "-1", want a whole number >= 0`:                             func(f *safetensors.File) { f.Metadata["step"] = "-1" },
		`step: got "1.5", want a whole number >= 0`:                            func(f *safetensors.File) { f.Metadata["step"] = "1.5" },
		`evaluated: got "x", want a whole number >= 0`:                         func(f *safetensors.File) { f.Metadata["evaluated"] = "x" },
		`config: not JSON: unexpected end of JSON input, want one JSON object`: func(f *safetensors.File) { f.Metadata["config"] = "{" },
		`source: illegal base64 data at input byte 0`:                          func(f *safetensors.File) { f.Metadata["source"] = "?" },
		`source: text: windows: state of 3 bytes: invalid PCG encoding`:        func(f *safetensors.File) { f.Metadata["source"] = "AAAA" },
		`source: got none, want the state of one: it was saved without`:        func(f *safetensors.File) { delete(f.Metadata, "source") },
		`heads: got "4", want the loop's ""; text: got "", want the loop's "novel"; width: got "7", want the loop's "6"`: func(f *safetensors.File) {
			delete(f.Metadata, "about.text")
			f.Metadata["about.width"], f.Metadata["about.heads"] = "7", "4"
		},
		"solver: got adam(beta1=0.9 beta2=0.999 eps=1e-08 weight_decay=0 of all), want the loop's adamw(beta1=0.9 beta2=0.999 eps=1e-08 weight_decay=0 of all)": func(f *safetensors.File) {
			f.Metadata["config"] = `{"solver":{"name":"adam"}}`
		},
		"missing params.output.bias, solver.exp_avg.tokens.weight; unknown params.output.gain, solver.exp_avg.token.weight; " +
			"params.tokens.weight is float64 (6, 11), want float64 (11, 6), params.attention.out_proj.bias is float64 (14, 1), want float64 (14), " +
			"params.output.weight is float32 (11, 14), want float64 (11, 14) and 1 more": func(f *safetensors.File) {
			tensorAt(f, "params.output.bias").Name = "params.output.gain"
			tensorAt(f, "solver.exp_avg.tokens.weight").Name = "solver.exp_avg.token.weight"
			tensorAt(f, "params.tokens.weight").Shape = []int{6, 11}
			tensorAt(f, "params.attention.out_proj.bias").Shape = []int{14, 1}
			tensorAt(f, "params.output.weight").Data = make([]float32, 11*14)
			tensorAt(f, "solver.step").Data = []int32{1}
		},
		"params.output.bias is float64 (0), want float64 (11)": func(f *safetensors.File) {
			p := tensorAt(f, "params.output.bias")
			p.Shape, p.Data = []int{0}, []float64{}
		},
		"train: solver state: step: got -1, want a number >= 0": func(f *safetensors.File) {
			tensorAt(f, "solver.step").Data = []int64{-1}
		},
	}
}

func TestRestoreRefusesWithoutChangingAnything(t *testing.T) {
	dir := t.TempDir()
	path, bad, state := filepath.Join(dir, "good"), filepath.Join(dir, "bad"), filepath.Join(dir, "state")
	c := config()
	c.About = map[string]string{"text": "novel", "width": "6"}
	saver := newModel(t, tensor.Float64, 7, 0).loop(t, c)
	_, err := saver.Step(randomBatch(0))
	require.NoError(t, err)
	require.NoError(t, saver.Save(path, textSources(t)["random"]))

	m, source := newModel(t, tensor.Float64, 8, 0), textSources(t)["random"]
	l := m.loop(t, c)
	for n := range 3 {
		_, err := l.Step(randomBatch(uint64(n)))
		require.NoError(t, err)
		_, err = source.Next()
		require.NoError(t, err)
	}
	// What a loop saves is all that it is.
	snapshot := func() []byte {
		require.NoError(t, l.Save(state, source))
		bytes, err := os.ReadFile(state)
		require.NoError(t, err)
		return bytes
	}
	before := snapshot()
	for want, spoil := range refusals(t) {
		f, err := safetensors.ReadFile(path)
		require.NoError(t, err)
		spoil(f)
		require.NoError(t, folder.WriteSealed(bad, f))
		require.EqualError(t, l.Restore(bad, source), "train: checkpoint: "+bad+": "+want)
		require.Equal(t, before, snapshot(), want)
	}
	err = l.Restore(filepath.Join(dir, "none"), source)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "train: checkpoint: ")
	require.ErrorContains(t, l.Save(filepath.Join(dir, "no", "such", "directory"), nil), "train: checkpoint after 3 steps: ")

	require.NoError(t, l.Restore(path, nil), "a source that the caller sees to")
	require.Equal(t, 1, l.Steps())
	require.NoError(t, l.Restore(path, source))
	require.Equal(t, textSources(t)["random"].State(), source.State())
}
