package pretrained_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// copyOf returns a copy of a case's folder with more files, but without the reference values.
func copyOf(t testing.TB, name string, more map[string]string) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(familyFolder(t, name))))
	require.NoError(t, os.Remove(filepath.Join(dir, "values.safetensors")))
	for name, text := range more {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// The tokenizer's files and generation_config.json are written as they were read; other files are not copied.
func TestFilesGoOut(t *testing.T) {
	more := map[string]string{"generation_config.json": `{"eos_token_id": [3, 5]}`, "tokenizer_config.json": "{ }",
		"special_tokens_map.json": "{}", "chat_template.jinja": "{{ x }}"}
	from, to := copyOf(t, "llama", more), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(from, "README.md"), nil, 0o644))
	g, err := pretrained.ReadGPT(from)
	require.NoError(t, err)
	files, err := g.Write(to, pretrained.WriteConfig{Format: pretrained.HuggingFace})
	require.NoError(t, err)
	require.Equal(t, "config.json", files[0])
	require.Equal(t, filesIn(t, to), slices.Sorted(slices.Values(files)))
	require.Len(t, files, 6)
	for name, want := range more {
		got, err := os.ReadFile(filepath.Join(to, name))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	require.NoError(t, os.Remove(filepath.Join(from, "chat_template.jinja")))
	_, err = g.Write(t.TempDir(), pretrained.WriteConfig{Format: pretrained.HuggingFace})
	require.NoError(t, err)
}

// The ids that end a text are those of generation_config.json, or else of config.json.
func TestEnds(t *testing.T) {
	for _, row := range []struct {
		name, of, generation string
		ends                 []int
		endOfText            int
	}{
		{"a number", "llama", "", []int{2}, 2},
		{"a list", "llama3", "", []int{2, 3}, 2},
		{"another list", "llama3", `{"eos_token_id": [16, 3], "do_sample": true}`, []int{16, 3}, 2},
		{"another number", "llama3", `{"eos_token_id": 7}`, []int{7}, 2},
		{"none there", "llama", `{"max_length": 20}`, []int{2}, 2},
		{"no token", "llama", `{"eos_token_id": [17, -1]}`, []int{2}, 2},
	} {
		more := map[string]string{"generation_config.json": row.generation}
		if row.generation == "" {
			more = nil
		}
		g, err := pretrained.ReadGPT(copyOf(t, row.of, more))
		require.NoError(t, err, row.name)
		require.Equal(t, row.ends, g.Ends, row.name)
		require.Equal(t, row.endOfText, g.EndOfText, row.name)
	}
}

// Weights in several files equal those in one file, and the index names the file of each.
func TestShards(t *testing.T) {
	from := familyFolder(t, "gpt_neox")
	g, err := pretrained.ReadGPT(from)
	require.NoError(t, err)
	want := slices.DeleteFunc(tensorsIn(t, from), func(x safetensors.Tensor) bool { return isBuffer(x.Name) })
	for size, shards := range map[int64]int{0: 1, 1: len(want), 1000: 6} {
		dir := t.TempDir()
		files, err := g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace, ShardSize: size})
		require.NoError(t, err)
		require.Equal(t, want, tensorsIn(t, dir))
		if shards == 1 {
			require.Equal(t, []string{"config.json", "model.safetensors"}, files)
			continue
		}
		var index struct {
			Metadata map[string]int    `json:"metadata"`
			Map      map[string]string `json:"weight_map"`
		}
		text, err := os.ReadFile(filepath.Join(dir, "model.safetensors.index.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &index))
		require.Len(t, index.Map, len(want))
		total := 0
		for _, name := range files[1 : len(files)-1] {
			f, err := safetensors.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			bytes := 0
			for _, x := range f.Tensors {
				require.Equal(t, name, index.Map[x.Name])
				n := 2
				for _, d := range x.Shape {
					n *= d
				}
				bytes += n
			}
			require.True(t, bytes <= int(size) || len(f.Tensors) == 1)
			total += bytes
		}
		require.Equal(t, total, index.Metadata["total_size"])
		require.Len(t, files, shards+2)
		require.Contains(t, files[1], "model-00001-of-000")
		again, err := pretrained.ReadGPT(dir)
		require.NoError(t, err)
		same(t, g.Params, again.Params)
	}
}

// If another type is chosen, the weights are rounded to it, and config.json names it.
func TestWrittenTypes(t *testing.T) {
	for _, name := range []string{"gpt2", "llama", "smollm2"} {
		g, err := pretrained.ReadGPT(familyFolder(t, name))
		require.NoError(t, err)
		for dtype, d := range map[string]safetensors.DType{"float64": safetensors.F64, "float32": safetensors.F32,
			"float16": safetensors.F16, "bfloat16": safetensors.BF16} {
			dir := t.TempDir()
			_, err := g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: dtype})
			require.NoError(t, err)
			text, err := os.ReadFile(filepath.Join(dir, "config.json"))
			require.NoError(t, err)
			require.Contains(t, string(text), `dtype": "`+dtype+`"`)
			for _, x := range tensorsIn(t, dir) {
				require.Equal(t, d, x.DType)
				value, ok := g.Params.Get(x.Name)
				if !ok { // the tied head
					continue
				}
				for i, v := range golden.Floats(t, value) {
					require.Equal(t, safetensors.Round(d, float32(v)), float32(safetensors.Floats[float64](x.Data)[i]))
				}
			}
			again, err := pretrained.ReadGPT(dir)
			require.NoError(t, err)
			require.Equal(t, g.Model.Config(), again.Model.Config())
		}
	}
}

// A model that has no form as a folder is an error, and nothing is written.
func TestWriteRefusesFamilies(t *testing.T) {
	g, err := pretrained.ReadGPT(familyFolder(t, "llama"))
	require.NoError(t, err)
	for _, row := range []struct {
		config pretrained.WriteConfig
		want   string
	}{
		{pretrained.WriteConfig{Format: pretrained.Torch},
			`format: got "torch" of another model than a GPT-2, want "huggingface"`},
		{pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: "int8"},
			`dtype: got "int8", want float32, float16, bfloat16 or float64`},
		{pretrained.WriteConfig{Format: pretrained.HuggingFace, ShardSize: -1},
			"shard size: got -1, want at least 1 byte, or 0 for 5 GB"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		_, err := g.Write(dir, row.config)
		require.EqualError(t, err, "pretrained: "+dir+": "+row.want)
		require.NoDirExists(t, dir)
	}
	value, _ := g.Params.Get("model.norm.weight")
	value.Float32s()[3] = 1e6
	dir := t.TempDir()
	_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace})
	require.ErrorContains(t, err, `tensor "model.norm.weight": got 1e+06, want a number that F16 holds`)
	require.Empty(t, filesIn(t, dir))
	require.False(t, strings.Contains(err.Error(), "\n"))
}
