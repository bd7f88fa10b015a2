package main

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/program"
	"attention/internal/folder"
	"attention/internal/gguf"
	"attention/train/pretrained"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ggufModel writes the file of a small model, and returns the model's folder and the file.
func ggufModel(t testing.TB) (dir, file string) {
	dir, file = commandtest.SmallLlama(t), filepath.Join(t.TempDir(), "small.gguf")
	_, _, err := attention(t, "export", "--model", dir, "--format", "gguf", "--out", file)
	require.NoError(t, err)
	return dir, file
}

// Each command gives the same result with a model's file as with its folder.
func TestGGUFModels(t *testing.T) {
	dir, file := ggufModel(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("cats.jsonl", []byte(`{"text": "the cat sat"}`+"\n"+`{"text": "the mat"}`), 0o644))
	require.NoError(t, os.WriteFile("cats.txt", []byte(strings.Repeat("the cat sat on the mat. ", 40)), 0o644))
	for _, row := range []struct{ args, same string }{ // same is a file that both write
		{args: "generate --model MODEL --prompt the --temperature 0 --tokens 9"},
		{"generate --model MODEL --prompt the --seed 3 --tokens 9 --weights OUT", "out"},
		{args: "tokenize --tokenizer MODEL --text the_cat --json"},
		{args: "finetune --model MODEL --data cats.jsonl --steps 2 --context 24 --out OUT"},
		{args: "chat --model MODEL --template alpaca --tokens 3"},
		{args: "view --model MODEL --text cat --export OUT"},
		{args: "train --init MODEL --text cats.txt --steps 1 --context 8 --batch 1 --out OUT"},
		{"export --model MODEL --format gguf --out OUT", "out"},
		{"export --model MODEL --format huggingface --dtype float32 --out OUT", "out/model.safetensors"},
	} {
		var texts, files []string
		for _, model := range []string{dir, file} {
			require.NoError(t, os.RemoveAll("x"))
			require.NoError(t, os.Mkdir("x", 0o755))
			args := strings.NewReplacer("MODEL", model, "OUT", "x/out").Replace(row.args)
			text, _, err := attention(t, strings.Fields(args)...)
			require.NoError(t, err, args)
			texts = append(texts, text)
			if row.same != "" {
				content, err := os.ReadFile("x/" + row.same)
				require.NoError(t, err)
				files = append(files, string(content))
			}
		}
		if name, _, _ := strings.Cut(row.args, " "); name == "generate" || name == "tokenize" {
			require.Equal(t, texts[0], texts[1], row.args)
		}
		require.True(t, row.same == "" || files[0] == files[1], row.args)
	}
}

// Tuning a file in each number format gives the results of tuning a folder with its numbers in float32. The adapters,
// and all forms in which the tuned model is exported, have the same bits.
func TestTunedGGUF(t *testing.T) {
	dir := commandtest.LlamaOf(t, 96, 64)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("cats.jsonl", []byte(`{"text": "the cat sat"}`+"\n"+`{"text": "the mat"}`), 0o644))
	run := func(args string) {
		_, _, err := attention(t, strings.Fields(args)...)
		require.NoError(t, err, args)
	}
	for _, typ := range pretrained.GGUFTypes() {
		run("export --model " + dir + " --format gguf --type " + string(typ) + " --out model.gguf")
		run("export --model model.gguf --format huggingface --dtype float32 --out plain")
		var all [2][]string
		for i, model := range []string{"model.gguf", "plain"} {
			run("finetune --model " + model + " --data cats.jsonl --steps 2 --context 24 --out tuned")
			for args, file := range map[string]string{
				"--format gguf --adapter-only --out x":         "x",
				"--format gguf --type q8_0 --out x":            "x",
				"--format gguf --out x":                        "x",
				"--format huggingface --dtype float32 --out x": "x/model.safetensors",
				"--format adapter --out x":                     "x/adapter_model.safetensors",
			} {
				run("export --model tuned " + args)
				content, err := os.ReadFile(file)
				require.NoError(t, err)
				all[i] = append(all[i], args+" "+string(content))
				require.NoError(t, os.RemoveAll("x"))
			}
			slices.Sort(all[i])
			require.NoError(t, os.RemoveAll("tuned"))
		}
		for i := range all[0] {
			require.True(t, all[0][i] == all[1][i], "%s: %.60s", typ, all[0][i])
		}
		require.NoError(t, os.RemoveAll("plain"))
	}
}

// A model in Ollama's store is tuned, and Ollama can use its adapter with the Modelfile that is printed.
func TestOllamaToOllama(t *testing.T) {
	dir, file := ggufModel(t)
	t.Chdir(t.TempDir())
	_, sum, err := folder.Sum(file)
	require.NoError(t, err)
	manifest := "store/manifests/registry.ollama.ai/library/small/latest"
	require.NoError(t, os.MkdirAll(filepath.Dir(manifest), 0o755))
	require.NoError(t, os.MkdirAll("store/blobs", 0o755))
	require.NoError(t, os.WriteFile(manifest,
		[]byte(`{"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:`+sum+`"}]}`), 0o644))
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("store/blobs/sha256-"+sum, content, 0o444))
	t.Setenv("OLLAMA_MODELS", "store")
	require.NoError(t, os.WriteFile("cats.jsonl", []byte(`{"text": "the cat sat"}`+"\n"+`{"text": "the mat"}`), 0o644))

	for _, row := range []struct{ model, from, first string }{
		{"ollama:small", "small", ""}, {file, file, ""},
		{dir, dir + ".gguf", "  " + program.Name + " export --model " + dir + " --format gguf --out " + dir + ".gguf\n"},
	} {
		require.NoError(t, os.RemoveAll("tuned"))
		_, _, err = attention(t, "finetune", "--model", row.model, "--data", "cats.jsonl", "--steps", "2", "--context", "24",
			"--out", "tuned")
		require.NoError(t, err)
		text, _, err := attention(t, "export", "--model", "tuned", "--format", "gguf", "--adapter-only", "--out", "my cats.gguf")
		require.NoError(t, err)
		require.Equal(t, "Wrote my cats.gguf\nFor Ollama, write these lines into a file Modelfile beside it:\n  FROM "+row.from+
			"\n  ADAPTER ./my cats.gguf\n  PARAMETER stop \"<|endoftext|>\"\nThen run there:\n"+row.first+
			"  ollama create 'my cats' -f Modelfile && ollama run 'my cats'\n", text)
	}
	names, err := folder.Names("store/blobs")
	require.NoError(t, err)
	require.Equal(t, []string{"sha256-" + sum}, names)
}

// For any command, a hostile file gives an error of one line within a second and 100 MB.
func TestHostileGGUF(t *testing.T) {
	_, file := ggufModel(t)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	hostile := filepath.Join(t.TempDir(), "hostile.gguf")
	refused := func(name string) {
		t.Helper()
		for _, command := range []string{"generate --prompt the --model ", "tokenize --text the --tokenizer ", "chat --model "} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, _, err := attention(t, append(strings.Fields(command), hostile)...)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if of, ok := strings.CutPrefix(name, "model "); ok && strings.HasPrefix(command, "tokenize") ||
				strings.HasSuffix(of, "template") && !strings.HasPrefix(command, "chat") {
				continue // which do not use it
			} else if !assert.Error(t, err, "%s of %s", command, name) {
				continue
			}
			assert.False(t, strings.ContainsAny(err.Error(), "\n\r"), "%s of %s: %v", command, name, err)
			assert.Less(t, len(err.Error()), 600, "%s of %s: %v", command, name, err)
			assert.Less(t, took, time.Second, "%s of %s: %v", command, name, err)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20), "%s of %s: %v", command, name, err)
		}
	}

	// Positions in the head at which a number of 8 bytes is too large, one at a time, and at which the file ends.
	head := strings.Index(string(whole), "output_norm.weight")
	require.Greater(t, head, 0)
	for at := 8; at < head; at += 1 + at/8 {
		for _, n := range []uint64{math.MaxUint64, 1 << 60, 1 << 32} {
			content := slices.Clone(whole)
			binary.LittleEndian.PutUint64(content[at:], n)
			require.NoError(t, os.WriteFile(hostile, content, 0o600))
			_, _, err := attention(t, "generate", "--prompt", "the", "--model", hostile, "--tokens", "1")
			require.False(t, err != nil && strings.ContainsAny(err.Error(), "\n\r"), "%d at %d: %v", n, at, err)
		}
		require.NoError(t, os.WriteFile(hostile, whole[:at], 0o600))
		refused("end")
	}

	for key, values := range map[string][]any{
		"block_count": {uint32(math.MaxUint32), uint32(60000), uint32(21)}, "context_length": {uint32(math.MaxUint32), uint32(0)},
		"embedding_length": {uint32(1 << 31), uint32(math.MaxUint32)}, "feed_forward_length": {uint32(math.MaxUint32), uint32(1 << 30)},
		"attention.head_count": {uint32(1 << 31), uint32(0), int32(-3)}, "attention.head_count_kv": {uint32(1 << 31), int32(-1)},
		"attention.key_length": {uint32(1 << 31), int32(-4), "x"}, "attention.layer_norm_rms_epsilon": {float32(math.Inf(1)), "x"},
		"rope.freq_base": {float32(math.NaN()), float32(-1), []float32{1}}, "rope.dimension_count": {uint32(1 << 31)},
		"attention.value_length": {uint32(1 << 31)},
	} {
		for _, value := range values {
			rewrite(t, whole, hostile, func(f *gguf.File) { setGGUF(f, "llama."+key, value) })
			refused("model " + key)
		}
	}
	long := strings.Repeat("x", 1<<22)
	for key, value := range map[string]any{
		"tokenizer.ggml.tokens": slices.Repeat([]string{"a"}, 1<<18), "tokenizer.ggml.merges": slices.Repeat([]string{"a"}, 1<<18),
		"tokenizer.ggml.token_type": make([]int32, 1<<20), "tokenizer.ggml.model": long, "tokenizer.ggml.pre": long,
		"tokenizer.ggml.bos_token_id": "x", "model tokenizer.chat_template": "{% for i in range(10 ** 9) %}{{ i }}{% endfor %}",
	} {
		rewrite(t, whole, hostile, func(f *gguf.File) { setGGUF(f, strings.TrimPrefix(key, "model "), value) })
		refused(key)
	}
}

// setGGUF gives a setting a value.
func setGGUF(f *gguf.File, key string, value any) {
	at := slices.IndexFunc(f.Settings, func(s gguf.Setting) bool { return s.Key == key })
	if at < 0 {
		at, f.Settings = len(f.Settings), append(f.Settings, gguf.Setting{Key: key})
	}
	f.Settings[at].Value = value
}

// rewrite writes the content of a file after a change.
func rewrite(t testing.TB, content []byte, path string, change func(*gguf.File)) {
	f, err := gguf.Parse(content)
	require.NoError(t, err)
	change(f)
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, gguf.Write(file, f))
	require.NoError(t, file.Close())
}
