package apply

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers/apply"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestApplyPrintsWhatItWrote: the command prints one line about its output.
func TestApplyPrintsWhatItWrote(t *testing.T) {
	f := caseFiles(t, "multi_head_batch")
	out, err := withoutGradOutput(t, f).run(t)
	require.NoError(t, err)
	out = strings.ReplaceAll(out, "\n      ", " ") // a line break after a long path
	require.Equal(t, "wrote "+f.output+": output (2, 7, 6), weights (2, 3, 7, 7)\n", out)
}

// TestApplyWritesWhatTheLayerComputes: the output has the layer's tensors, in the type of --dtype or the input's.
func TestApplyWritesWhatTheLayerComputes(t *testing.T) {
	f := caseFiles(t, "multi_head_batch")
	layer, err := apply.Read(f.config)
	require.NoError(t, err)
	for _, row := range []struct {
		name  string
		flags []string
		dt    tensor.Dtype
		want  safetensors.DType
	}{
		{name: "the input's", want: safetensors.F64},
		{name: "float64", flags: []string{"--dtype=float64"}, dt: tensor.Float64, want: safetensors.F64},
		{name: "float32", flags: []string{"--dtype", "float32"}, dt: tensor.Float32, want: safetensors.F32},
	} {
		_, err := f.run(t, row.flags...)
		require.NoError(t, err)
		written, err := safetensors.ReadFile(f.output)
		require.NoError(t, err)
		want, err := layer.Run(t.Context(), apply.Config{Weights: f.weights, Input: f.input, Dtype: row.dt})
		require.NoError(t, err)
		require.Len(t, written.Tensors, len(want))
		for _, x := range want {
			got, ok := written.Get(x.Name)
			require.True(t, ok, x.Name)
			require.Equal(t, row.want, got.DType, row.name)
			require.Equal(t, x.Value.Shape(), tensor.Shape(got.Shape), x.Name)
			require.Equal(t, dense.Slice(x.Value), got.Data, x.Name)
		}
	}
}

// TestApplyIsRepeatable: a second call replaces the output with equal bytes and leaves
// no other file beside it.
func TestApplyIsRepeatable(t *testing.T) {
	f := caseFiles(t, "multi_head_batch")
	var first []byte
	for range 2 {
		_, err := f.run(t)
		require.NoError(t, err)
		bytes, err := os.ReadFile(f.output)
		require.NoError(t, err)
		if first == nil {
			first = bytes
			require.NoError(t, os.WriteFile(f.output, []byte("old"), 0o644))
		}
		require.Equal(t, first, bytes)
	}
	entries, err := os.ReadDir(filepath.Dir(f.output))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// TestApplyInterrupted: an interrupted command writes nothing.
func TestApplyInterrupted(t *testing.T) {
	f := caseFiles(t, "simple")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := commandtest.Output(ctx, New(), "--config", f.config, "--input", f.input, "--output", f.output)
	require.EqualError(t, err, "interrupted; nothing was written")
	require.True(t, term.IsInterrupted(err))
	require.NoFileExists(t, f.output)
}

// TestApplyWrongFiles: files that are missing, broken or exchanged.
func TestApplyWrongFiles(t *testing.T) {
	length := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) } // of the header
	for _, row := range []struct {
		spoil func(*wrongCall)
		want  string
	}{
		{spoil: func(c *wrongCall) { c.config = "" }, want: "--config: missing, want the path of a layer.json"},
		{spoil: func(c *wrongCall) { c.input = "" }, want: "--input: missing, want the path of a safetensors file"},
		{spoil: func(c *wrongCall) { c.output = "" }, want: "--output: missing, want the path of the file to write"},
		{spoil: func(c *wrongCall) { c.flags = []string{"--dtype", ""} },
			want: `--dtype: got "", want float32 or float64`},
		{spoil: func(c *wrongCall) { c.flags = []string{"--dtype", "float16"} },
			want: `--dtype: got "float16", want float32 or float64`},
		{spoil: func(c *wrongCall) { c.config = filepath.Join(c.dir, "none.json") },
			want: "open none.json: no such file or directory"},
		{spoil: func(c *wrongCall) { c.input = filepath.Join(c.dir, "none.safetensors") },
			want: "safetensors: open none.safetensors: no such file or directory"},
		{spoil: func(c *wrongCall) { c.weights = filepath.Join(c.dir, "no") },
			want: "safetensors: open no: no such file or directory"},
		{spoil: func(c *wrongCall) { c.file("w.safetensors", "") },
			want: "safetensors: w.safetensors: file is 0 bytes, want at least the 8 of the header's length"},
		{spoil: func(c *wrongCall) { c.file("in.safetensors", length(1<<63-1)) },
			want: "safetensors: in.safetensors: header length: got 9223372036854775807 bytes, want at most 100000000"},
		{spoil: func(c *wrongCall) { c.file("in.safetensors", length(2)+"PK") },
			want: `safetensors: in.safetensors: header: starts with "PK", want "{"`},
		{spoil: func(c *wrongCall) { c.weights = "" },
			want: "--weights: missing, want a safetensors file with W_query.weight, W_query.bias, W_key.weight, W_key.bias, " +
				"W_value.weight, W_value.bias for layer causal"},
		{spoil: func(c *wrongCall) { c.output = c.input }, want: "--output: in.safetensors is also read, want another file"},
		{spoil: func(c *wrongCall) {
			c.output = filepath.Join(c.dir, "link")
			require.NoError(c.t, os.Symlink(c.weights, c.output))
		}, want: "--output: link is also read, want another file"},
		{spoil: func(c *wrongCall) { c.output = filepath.Join(c.dir, "no", "out") },
			want: "safetensors: no/out: open no: no such file or directory"},
		{spoil: func(c *wrongCall) {
			c.output = filepath.Join(c.dir, "sub")
			require.NoError(c.t, os.Mkdir(c.output, 0o755))
		}, want: "safetensors: sub: got a folder, want a regular file"},
		{spoil: func(c *wrongCall) { require.NoError(c.t, os.Truncate(c.config, 3<<30)) },
			want: "open layer.json: got 3221225472 bytes, want at most 16777216"},
		{spoil: func(c *wrongCall) {
			c.weights = filepath.Join(c.dir, "sub")
			require.NoError(c.t, os.Mkdir(c.weights, 0o755))
		},
			want: "safetensors: open sub: got a folder, want a regular file"},
	} {
		c := newWrongCall(t)
		row.spoil(c)
		require.Equal(t, row.want, c.message())
	}
}

func TestApplyWrongArguments(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string
	}{
		{args: []string{"more"}, want: `unknown command "more" for "attention apply"`},
		{args: []string{"--wieghts", "w"}, want: "unknown flag: --wieghts; see attention apply --help" +
			"\n\nDid you mean this?\n--weights"},
		{args: []string{"--config"}, want: "flag needs an argument: --config; see attention apply --help"},
	} {
		_, err := commandtest.Output(t.Context(), New(), row.args...)
		require.EqualError(t, err, row.want)
	}
}

// TestApplyTruncated: a truncated file is refused.
func TestApplyTruncated(t *testing.T) {
	c := newWrongCall(t)
	for _, path := range []string{c.config, c.weights, c.input} {
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		for n := 0; n < len(strings.TrimSpace(string(whole))); n += 1 + n/40 {
			require.NoError(t, os.WriteFile(path, whole[:n], 0o644))
			require.Contains(t, c.message(), filepath.Base(path), n)
		}
		require.NoError(t, os.WriteFile(path, whole, 0o644))
	}
}

// TestApplyDamaged: files with a few bytes changed either work or are refused in one
// line; nothing panics and no other file is left behind.
func TestApplyDamaged(t *testing.T) {
	for _, row := range []struct {
		name  string
		times int
	}{{name: "causal_batch", times: 150}, {name: "attention_inputs", times: 100}} {
		c := newWrongCallOf(t, row.name)
		random := rand.New(rand.NewPCG(1, 2))
		worked, refused := 0, 0
		for _, path := range []string{c.config, c.weights, c.input} {
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			for range row.times {
				damaged := slices.Clone(whole)
				for range 1 + random.IntN(3) {
					// Mostly the beginning, where the headers are.
					damaged[random.IntN(min(len(whole), 900))] = byte(random.Uint32())
				}
				require.NoError(t, os.WriteFile(path, damaged, 0o644))
				if _, err := c.run(t); err == nil {
					worked++
					c.file("out.safetensors", oldOutput)
					continue
				}
				refused++
				c.message()
			}
			require.NoError(t, os.WriteFile(path, whole, 0o644))
		}
		require.Positive(t, worked, row.name)
		require.Greater(t, refused, row.times, row.name)
	}
}
