package apply

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestApplyWrongFiles: files that are missing, broken or in each other's place.
func TestApplyWrongFiles(t *testing.T) {
	for want, spoil := range map[string]func(*wrongCall){
		"--config: missing, want the path of a layer.json":                                        func(c *wrongCall) { c.config = "" },
		"--input: missing, want the path of a safetensors file":                                   func(c *wrongCall) { c.input = "" },
		"--output: missing, want the path of the file to write":                                   func(c *wrongCall) { c.output = "" },
		`--dtype: got "float16", want float32 or float64`:                                         func(c *wrongCall) { c.flags = []string{"--dtype", "float16"} },
		"open none.json: no such file or directory":                                               func(c *wrongCall) { c.config = filepath.Join(c.dir, "none.json") },
		"safetensors: open none.safetensors: no such file or directory":                           func(c *wrongCall) { c.input = filepath.Join(c.dir, "none.safetensors") },
		"safetensors: open no: no such file or directory":                                         func(c *wrongCall) { c.weights = filepath.Join(c.dir, "no") },
		"safetensors: w.safetensors: file is 0 bytes, want at least the 8 of the header's length": func(c *wrongCall) { c.file("w.safetensors", "") },
		"safetensors: in.safetensors: header length: got 9223372036854775807 bytes, want at most 100000000": func(c *wrongCall) {
			c.file("in.safetensors", string(binary.LittleEndian.AppendUint64(nil, 1<<63-1)))
		},
		`safetensors: in.safetensors: header: starts with "PK", want "{"`: func(c *wrongCall) {
			c.file("in.safetensors", string(binary.LittleEndian.AppendUint64(nil, 2))+"PK")
		},
		"--weights: missing, want a safetensors file with W_query.weight, W_query.bias, W_key.weight, W_key.bias, W_value.weight, W_value.bias for layer causal": func(c *wrongCall) {
			c.weights = ""
		},
		"--output: in.safetensors is also read, want another file": func(c *wrongCall) { c.output = c.input },
		"--output: link is also read, want another file": func(c *wrongCall) {
			c.output = filepath.Join(c.dir, "link")
			require.NoError(c.t, os.Symlink(c.weights, c.output))
		},
		"safetensors: no/out: invalid output path: stat no: no such file or directory": func(c *wrongCall) { c.output = filepath.Join(c.dir, "no", "out") },
		"safetensors: sub: cannot write to a directory": func(c *wrongCall) {
			c.output = filepath.Join(c.dir, "sub")
			require.NoError(c.t, os.Mkdir(c.output, 0o755))
		},
	} {
		c := newWrongCall(t)
		spoil(c)
		require.Equal(t, "apply: "+want, c.message())
	}
	for want, args := range map[string][]string{
		`unknown command "more" for "attention apply"`: {"more"},
		"unknown flag: --wieghts":                      {"--wieghts", "w"},
		"flag needs an argument: --config":             {"--config"},
	} {
		_, err := runApply(t.Context(), args...)
		require.EqualError(t, err, want)
	}
}

// TestApplyManyMissing: a list that is too long for one line is cut.
func TestApplyManyMissing(t *testing.T) {
	c := newWrongCall(t)
	c.text(`{"layer": "multi_head_wrapper", "d_in": 5, "d_out": 6, "num_heads": 65536}`)
	got := c.message()
	require.Less(t, len(got), 2500)
	require.Contains(t, got, `tensors missing: "heads.0.W_query.weight", "heads.0.W_key.weight", `)
	require.Contains(t, got, `"heads.7.W_value.weight" and 196584 more; tensors unknown: "`)
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
	for name, times := range map[string]int{"causal_batch": 150, "attention_inputs": 100} {
		c := newWrongCallOf(t, name)
		random := rand.New(rand.NewPCG(1, 2))
		worked, refused := 0, 0
		for _, path := range []string{c.config, c.weights, c.input} {
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			for range times {
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
		require.Positive(t, worked, name)
		require.Greater(t, refused, times, name)
	}
}
