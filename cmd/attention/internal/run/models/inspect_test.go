package models

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/internal/golden"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// copyOf returns a copy of the run folder of testdata/runs of this name.
func copyOf(t testing.TB, name string) string {
	runs, err := golden.Path("runs")
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(runs, name, "run"))))
	return dir
}

func TestInspect(t *testing.T) {
	vocabulary, err := text.NewVocabulary("abc")
	require.NoError(t, err)
	export := writeGPT(t, layers.GPTConfig{VocabSize: 5, ContextLength: 6, EmbedDim: 8, NumLayers: 1, NumHeads: 2},
		vocabulary)
	dates := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dates, settings.ConfigFile),
		[]byte(`{"format": 2, "model": {"type": "dates", "embed_dim": 8, "num_heads": 1, "num_layers": 1,
			"written_characters": " ',./0123456789abcdefghijklmnopqrstuvwxyz", "iso_characters": "-0123456789"}}`), 0o644))
	noModel, steps := copyOf(t, "finished_layer"), copyOf(t, "finished_gpt")
	require.NoError(t, os.Remove(filepath.Join(noModel, settings.ModelFile)))
	all := filepath.Join(steps, settings.CheckpointsFolder)
	require.NoError(t, os.Rename(checkpoint.Path(all, 12), checkpoint.Path(all, 13)))
	for _, row := range []struct {
		reason, dir, kind string
		steps             int
		checkpoints       []int
		unfinished        bool
	}{
		{reason: "a GPT's run", dir: copyOf(t, "finished_gpt"), kind: settings.GPTModel, steps: 12, checkpoints: []int{12}},
		{reason: "a layer's run", dir: copyOf(t, "finished_layer"), kind: settings.LayerModel, steps: 12, checkpoints: []int{12}},
		{reason: "a killed run", dir: copyOf(t, "gpt2_killed"), kind: settings.GPTModel},
		{reason: "a run without a model", dir: noModel, kind: settings.LayerModel, checkpoints: []int{12}, unfinished: true},
		{reason: "a run that took more steps", dir: steps, kind: settings.GPTModel, steps: 12, checkpoints: []int{13},
			unfinished: true},
		{reason: "a run of attention translate", dir: dates, kind: settings.DatesModel},
		{reason: "an export", dir: export},
	} {
		in, err := Inspect(row.dir)
		require.NoError(t, err, row.reason)
		require.Equal(t, []any{row.dir, row.kind, row.kind != "", row.steps, row.checkpoints, row.unfinished},
			[]any{in.Dir, in.Kind, in.IsRun(), in.Steps, in.Checkpoints, in.Unfinished()}, row.reason)
		if row.kind == settings.GPTModel || row.kind == settings.LayerModel {
			require.Equal(t, []any{row.kind, 20}, []any{in.Config.Model.Type(),
				in.Config.Training.Schedule.Schedule.(train.CosineLR).Steps})
		}
	}
}

// Each config.json that a program cannot use is one line that names it.
func TestInspectWrong(t *testing.T) {
	const stranger = " wrote the run, and this one does not read it"
	dir := t.TempDir()
	path := filepath.Join(dir, settings.ConfigFile)
	_, err := Inspect(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "open "+path+": no such file or directory, "+
		"want the folder of a model, with config.json and model.safetensors")
	_, err = Inspect(filepath.Join(dir, "x"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "x: no such file or directory, want the folder of a model")
	for _, row := range []struct{ reason, config, want string }{
		{reason: "of a program without formats", config: `{"model": {"embed_dim": 8}}`,
			want: "format: got none, want 2: another program" + stranger},
		{reason: "another format", config: `{"format": 1, "model": {"n_embd": "wide"}}`,
			want: "format: got 1, want 2: another program" + stranger},
		{reason: "another format of dates", config: `{"format": 0, "model": {"type": "dates"}}`,
			want: "format: got 0, want 2: another program" + stranger},
		{reason: "no number", config: `{"format": "torch", "model": {"type": "gpt"}}`,
			want: "format: got torch, want 2: another program" + stranger},
		{reason: "no model", config: `{"format": 2, "vocabulary": {"tokenizer": "bytes"}, "dtype": "float32"}`,
			want: "model: got none, want one of type layer, gpt or decoder"},
		{reason: "a model of no kind", config: `{"format": 2, "model": {"type": "llama"}}`,
			want: `model.type: got "llama", want one of layer, gpt, decoder`},
		{reason: "another field", config: `{"format": 2, "model": {"type": "gpt", "num_heads": "2"}}`,
			want: `model.num_heads: got "2", want a whole number`},
		{reason: "twice", config: `{"format": 2, "model": {"type": "gpt", "embed_dim": 1, "embed_dim": 2}}`,
			want: `model: field "embed_dim" comes twice`},
		{reason: "no object", config: `[1]`, want: "got [1], want a JSON object"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(row.config), 0o644))
		_, err := Inspect(dir)
		require.EqualError(t, err, path+": "+row.want, row.reason)
	}
}

// A GPT of a run is the GPT of its export, with all of it and without the weights.
func TestInspectGPT(t *testing.T) {
	in, err := Inspect(copyOf(t, "finished_gpt"))
	require.NoError(t, err)
	want, err := in.GPT()
	require.NoError(t, err)
	wantSpec, err := in.Spec()
	require.NoError(t, err)
	c, _ := want.Model.Config().GPT()
	require.Equal(t, settings.Spec{Model: settings.ModelConfig{GPT: &c}, Dtype: tensor.Float32, Tokenizer: want.Tokenizer}, wantSpec)
	dir := filepath.Join(t.TempDir(), "out")
	_, err = want.Write(dir, pretrained.WriteConfig{Format: pretrained.Torch})
	require.NoError(t, err)
	in, err = Inspect(dir)
	require.NoError(t, err)
	got, err := in.GPT()
	require.NoError(t, err)
	require.Equal(t, want.Model.Config(), got.Model.Config())
	for name, value := range want.Params.All() {
		other, ok := got.Params.Get(name)
		require.True(t, ok, name)
		require.Equal(t, value.Data(), other.Data(), name)
	}
	spec, err := in.Spec()
	require.NoError(t, err)
	require.Equal(t, wantSpec, spec)

	in, err = Inspect(copyOf(t, "finished_layer"))
	require.NoError(t, err)
	_, err = in.GPT()
	require.EqualError(t, err, in.ErrKind("a GPT").Error())
	_, err = in.Spec()
	require.EqualError(t, err, in.ErrKind("a GPT").Error())
}

// A model whose metadata has another format, or no checksum, is one line.
func TestInspectModel(t *testing.T) {
	dir := copyOf(t, "finished_gpt")
	path := filepath.Join(dir, settings.ModelFile)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(content), "attention model 2")
	other := strings.Replace(string(content), "attention model 2", "attention model 3", 1)
	require.NoError(t, os.WriteFile(path, []byte(other), 0o644))
	in, err := Inspect(dir)
	require.NoError(t, err)
	_, err = in.Open()
	require.EqualError(t, err, path+`: format: got "attention model 3", want "attention model 2": `+
		"another program wrote the model, and this one does not read it")
}

// writeGPT writes the folder of a GPT with new weights.
func writeGPT(t testing.TB, c layers.GPTConfig, tokenizer text.Tokenizer) string {
	p := layers.NewParams(tensor.Float32, 1)
	m, err := layers.NewGPT(p.Scope(""), c)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "gpt")
	_, err = (&pretrained.GPT{Model: m, Params: p, Tokenizer: tokenizer, EndOfText: -1}).Write(dir, pretrained.WriteConfig{Format: pretrained.Torch})
	require.NoError(t, err)
	return dir
}
