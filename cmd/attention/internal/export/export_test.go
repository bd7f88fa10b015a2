package export

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/train/tasks/dates"

	"github.com/stretchr/testify/require"
)

func exported(args ...string) (string, error) {
	var out bytes.Buffer
	err := commandtest.Run(context.Background(), &out, io.Discard, New(), args...)
	return out.String(), err
}

// A folder of another family is written as it was read, file by file, and on request in another type and in several
// files.
func TestExportFamily(t *testing.T) {
	from, to := commandtest.SmallLlama(t), filepath.Join(t.TempDir(), "out")
	text, err := exported("--model", from, "--format", "huggingface", "--out", to)
	require.NoError(t, err)
	require.Equal(t, "In "+to+": config.json, model.safetensors, tokenizer.json, generation_config.json\n", text)
	for _, name := range []string{"config.json", "model.safetensors", "tokenizer.json", "generation_config.json"} {
		want, err := os.ReadFile(filepath.Join(from, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(to, name))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), name)
	}
	to += "2"
	text, err = exported("--model", from, "--format", "huggingface", "--out", to, "--dtype", "float32",
		"--shard-size", "15KB")
	require.NoError(t, err)
	require.Equal(t, "In "+to+": config.json, model-00001-of-00002.safetensors, model-00002-of-00002.safetensors, "+
		"model.safetensors.index.json, tokenizer.json, generation_config.json\n", text)
}

func TestExportWrong(t *testing.T) {
	dir, full, run := commandtest.WriteGPT(t, commandtest.SmallGPT(t)), t.TempDir(), ""
	llama := commandtest.SmallLlama(t)
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o644))
	run, _, _ = commandtest.LayerRun(t, "multi_head")
	dates, _ := commandtest.DatesRun(t, dates.Config{EmbedDim: 2, NumHeads: 1, NumLayers: 1}, 1, 1)
	for _, c := range []struct {
		args []string
		want string
	}{
		{args: []string{"--format", "torch", "--out", "x"},
			want: "--model: missing, want the folder of a model: runs has none to take; attention train makes one"},
		{args: []string{"--model", dir, "--out", "x"}, want: `--format: got "", want huggingface, torch, gguf or adapter`},
		{args: []string{"--model", dir, "--format", "onnx", "--out", "x"},
			want: `--format: got "onnx", want huggingface, torch, gguf or adapter`},
		{args: []string{"--model", full + "/x", "--format", "torch", "--out", "y"},
			want: "--model: " + full + "/x: got a file, want the folder of a model, with config.json and model.safetensors, " +
				"or a GGUF file"},
		{args: []string{"--model", dir, "--format", "torch"}, want: "--out: missing, want a folder to write"},
		{args: []string{"--model", run, "--format", "torch", "--out", filepath.Join(full, "y")},
			want: "--model: " + run + ": got a run of attention train of one layer, want a GPT; " +
				"this one is for: attention generate --model " + run + " --prompt TEXT"},
		{args: []string{"--model", dates, "--format", "torch", "--out", filepath.Join(full, "y")},
			want: "--model: " + dates + ": got a run of attention translate, want a GPT; " +
				"this one is for: attention translate --model " + dates + " --date 8/6/63"},
		{args: []string{"--model", dir, "--format", "torch", "--out", full},
			want: "--out: pretrained: " + full + ": got a folder that is not empty, want a new or empty one"},
		{args: []string{"--model", dir, "--format", "gguf", "--type", "q4_0", "--out", "y"},
			want: `--type: got "q4_0", want f32, bf16, f16 or q8_0`},
		{args: []string{"--model", dir, "--format", "torch", "--type", "f16", "--out", "y"},
			want: `--type: got "f16" with --format torch, want none: it is for --format gguf`},
		{args: []string{"--model", dir, "--format", "gguf"}, want: "--out: missing, want a file to write"},
		{args: []string{"--model", dir, "--format", "gguf", "--dtype", "float16", "--out", "y"},
			want: "--dtype, --shard-size: got one with --format gguf, want none: it has --type"},
		{args: []string{"--model", dir, "--format", "huggingface", "--dtype", "int8", "--out", "y"},
			want: `--dtype: got "int8", want float32, float16, bfloat16 or float64`},
		{args: []string{"--model", dir, "--format", "huggingface", "--shard-size", "5", "--out", "y"},
			want: `--shard-size: got "5", want a number with its unit, such as 500MB or 2GB`},
		{args: []string{"--model", dir, "--format", "huggingface", "--shard-size", "-1GB", "--out", "y"},
			want: `--shard-size: got "-1GB", want a number with its unit, such as 500MB or 2GB`},
		{args: []string{"--model", llama, "--format", "torch", "--out", "y"},
			want: `--out: pretrained: y: format: got "torch" of another model than a GPT-2, want "huggingface"`},
		{args: []string{"--model", dir, "--format", "gguf", "--out", full},
			want: "--out: pretrained: " + full + ": got a folder, want a regular file"},
	} {
		_, err := exported(c.args...)
		require.EqualError(t, err, c.want)
	}
	_, err := exported("--form", "torch")
	require.ErrorContains(t, err, "unknown flag: --form; see attention export --help")
	files, err := os.ReadDir(full)
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// Ctrl-C ends the writing of each format with exit code 130, and leaves no file.
func TestExportIsInterrupted(t *testing.T) {
	model := commandtest.SmallLlama(t)
	for _, format := range []string{"huggingface", "gguf"} {
		t.Chdir(t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := commandtest.Run(ctx, io.Discard, io.Discard, New(), "--model", model, "--format", format, "--out", "out")
		require.EqualError(t, err, "interrupted", format)
		require.Equal(t, 130, term.ExitCode(err))
		files, err := filepath.Glob("out/*")
		require.NoError(t, err)
		require.Empty(t, files)
		require.NoFileExists(t, "out")
	}
}
