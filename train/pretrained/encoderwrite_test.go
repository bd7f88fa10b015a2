package pretrained_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// goesOut opens the folder of an encoder, writes it to another folder and compares the files byte for byte with the
// originals.
func goesOut(t *testing.T, from string, open func(string) (*pretrained.Encoder, error)) {
	t.Helper()
	e, err := open(from)
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), "out")
	files, err := e.Write(to)
	require.NoError(t, err)
	require.Equal(t, "config.json", files[0])
	seen := map[string]bool{"README.md": true, "values.safetensors": true,
		"head.safetensors": true} // of no model
	for _, name := range files {
		seen[filepath.ToSlash(name)] = true
	}
	for _, dir := range []string{from, to} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			require.NoError(t, err)
			name, err := filepath.Rel(dir, path)
			require.NoError(t, err)
			require.True(t, d.IsDir() || seen[filepath.ToSlash(name)], name)
			return nil
		}))
	}
	for _, name := range files {
		want, err := os.ReadFile(filepath.Join(from, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(to, name))
		require.NoError(t, err)
		require.True(t, string(want) == string(got), name)
	}
}

// changeTensors rewrites the tensors of a folder.
func changeTensors(t testing.TB, dir string, change func(*safetensors.Tensor)) {
	path := filepath.Join(dir, "model.safetensors")
	f, err := safetensors.ReadFile(path)
	require.NoError(t, err)
	for i := range f.Tensors {
		change(&f.Tensors[i])
	}
	require.NoError(t, safetensors.WriteFile(path, f))
}

// halves converts a tensor to elements of 16 bits.
func halves(d safetensors.DType) func(*safetensors.Tensor) {
	return func(x *safetensors.Tensor) {
		data := safetensors.Floats[float32](x.Data)
		x.Data = safetensors.Stream{DType: d, Each: func(write func(any) error) error { return write(data) }}
	}
}

// A folder is written as it was read: weights with their types and names, heads, the config, the tokenizer and the
// files that sentence-transformers reads.
func TestEncodersGoOut(t *testing.T) {
	for _, name := range encoderCases {
		t.Run(name, func(t *testing.T) {
			dir := encoderFolder(t, name)
			for _, name := range []string{"README.md", "vocab.txt", "special_tokens_map.json", "tokenizer_config.json",
				"sentence_bert_config.json", "config_sentence_transformers.json"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("{ }"), 0o644))
			}
			goesOut(t, dir, pretrained.OpenEncoder)
		})
	}
	for name, change := range map[string]func(t *testing.T, dir string){
		"bfloat16": func(t *testing.T, dir string) { changeTensors(t, dir, halves(safetensors.BF16)) },
		"float16":  func(t *testing.T, dir string) { changeTensors(t, dir, halves(safetensors.F16)) },
		"mixed": func(t *testing.T, dir string) { // float64, unless all weights of the model are narrower
			changeTensors(t, dir, func(x *safetensors.Tensor) {
				if strings.HasPrefix(x.Name, "bert.embeddings.") {
					x.Data = safetensors.Floats[float32](x.Data)
				}
			})
		},
		"old names": func(t *testing.T, dir string) {
			changeTensors(t, dir, func(x *safetensors.Tensor) {
				x.Name = strings.Replace(x.Name, "LayerNorm.weight", "LayerNorm.gamma", 1)
				x.Name = strings.Replace(x.Name, "LayerNorm.bias", "LayerNorm.beta", 1)
			})
		},
		"shards": func(t *testing.T, dir string) {
			path := filepath.Join(dir, "model.safetensors")
			f, err := safetensors.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.Remove(path))
			var places []string
			for i, x := range f.Tensors {
				name := "model-" + strconv.Itoa(i%3) + ".safetensors"
				places = append(places, strconv.Quote(x.Name)+": "+strconv.Quote(name))
			}
			for i := range 3 {
				part := &safetensors.File{Metadata: map[string]string{"part": strconv.Itoa(i)}}
				for j := i; j < len(f.Tensors); j += 3 {
					part.Tensors = append(part.Tensors, f.Tensors[j])
				}
				require.NoError(t, safetensors.WriteFile(filepath.Join(dir, "model-"+strconv.Itoa(i)+".safetensors"), part))
			}
			require.NoError(t, os.WriteFile(path+".index.json",
				[]byte(`{"weight_map": {`+strings.Join(places, ", ")+"}}"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := encoderFolder(t, "bert_head")
			change(t, dir)
			goesOut(t, dir, pretrained.OpenEncoder)
		})
	}
	t.Run("published", func(t *testing.T) { goesOut(t, golden.Published(t, "minilm"), pretrained.OpenEncoder) })
}

// step changes all weights of an encoder by one step against the gradients of the sum of the cubes of a text's vectors.
func step(t *testing.T, e *pretrained.Encoder, ids []int64) {
	x, b := vectorsOf(t, e, ids)
	grads, err := G.Grad(G.Must(G.Sum(G.Must(G.Cube(x)))), b.Learnables()...)
	require.NoError(t, err)
	run, err := machine.New(grads...)
	require.NoError(t, err)
	require.NoError(t, run.RunAll())
	for i, n := range b.Learnables() {
		v, _ := e.Params.Get(n.Name())
		moved := golden.Floats(t, v)
		for j, g := range golden.Floats(t, grads[i].Value()) {
			moved[j] -= 0.01 * g
		}
		require.NoError(t, e.Params.Set(n.Name(), golden.Dense(e.Params.Dtype(), moved, v.Shape()...)))
	}
}

// vectorsOf returns the vectors of a text, computed in a new graph.
func vectorsOf(t *testing.T, e *pretrained.Encoder, ids []int64) (*G.Node, *layers.Build) {
	b := layers.NewBuild(e.Params, layers.Eval)
	in := b.InputOf(tensor.Int64, "ids", len(ids))
	require.NoError(t, b.Err())
	require.NoError(t, G.Let(in, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))))
	x, err := e.Model.Forward(b, layers.EncoderInput{IDs: in})
	require.NoError(t, err)
	return x, b
}

// After a training step every weight in the written folder has changed, heads are unchanged, and transformers and
// sentence-transformers compute our vectors from it. The vectors are compared if there is a Python with both.
func TestTrainedEncodersGoOut(t *testing.T) {
	if testing.Short() {
		t.Skip("loading PyTorch takes seconds")
	}
	ids, text := []int64{2, 100, 7, 31, 3}, "the words of hello"
	out := filepath.Join(t.TempDir(), "out.safetensors")
	args, want := []string{out, "2,100,7,31,3", text}, map[string][]float64{}
	for i, name := range encoderCases {
		from, to := encoderFolder(t, name), t.TempDir()
		e, err := pretrained.OpenEncoder(from)
		require.NoError(t, err)
		step(t, e, ids)
		_, err = e.Write(to)
		require.NoError(t, err)
		before := tensorsIn(t, from)
		for i, x := range tensorsIn(t, to) {
			isHead := strings.HasPrefix(x.Name, "pooler.") || strings.HasPrefix(x.Name, "cls.")
			require.Equal(t, isHead, reflect.DeepEqual(before[i], x), x.Name)
			require.Equal(t, before[i].DType, x.DType)
		}
		again, err := pretrained.OpenEncoder(to)
		require.NoError(t, err)
		same(t, e.Params, again.Params)
		x, _ := vectorsOf(t, e, ids)
		run, err := machine.New(x)
		require.NoError(t, err)
		require.NoError(t, run.RunAll())
		args, want[strconv.Itoa(i)] = append(args, to), golden.Floats(t, x.Value())
		if _, err := os.Stat(filepath.Join(to, "modules.json")); err == nil {
			embedder, err := e.Embedder()
			require.NoError(t, err)
			v, err := embedder.Embed(t.Context(), text)
			require.NoError(t, err)
			want[strconv.Itoa(i)+".text"] = safetensors.Convert[float64](v[0])
		}
	}
	golden.Python(t, "encoder_read.py", args...)
	f, err := safetensors.ReadFile(out)
	require.NoError(t, err)
	require.Len(t, f.Tensors, len(want))
	for _, x := range f.Tensors {
		tolerance := 1e-10
		if strings.HasSuffix(x.Name, ".text") {
			tolerance = 1e-6 // which are float32
		}
		golden.Close(t, x.Name, safetensors.Floats[float64](x.Data), want[x.Name], tolerance, tolerance)
	}
}

// An encoder that cannot be written in its present form is refused, and nothing is written.
func TestEncoderWriteRefuses(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(e *pretrained.Encoder, from, to string) error
		want   string
	}{
		{"another length", func(e *pretrained.Encoder, _, _ string) error { e.Sentence.MaxLength = 5; return nil },
			"sentence: got {Pooling:mean Normalize:true MaxLength:5 lowercase:false}, want {"},
		{"made by hand", func(e *pretrained.Encoder, _, _ string) error {
			*e = pretrained.Encoder{Model: e.Model, Params: e.Params}
			return nil
		}, "got an encoder that was not read from a folder, want one of OpenEncoder"},
		{"gone", func(_ *pretrained.Encoder, from, _ string) error { return os.RemoveAll(from) },
			"holds neither model.safetensors nor model.safetensors.index.json, want one"},
		{"tokenizer gone", func(_ *pretrained.Encoder, from, _ string) error {
			path := filepath.Join(from, "tokenizer.json")
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o755))
		}, "tokenizer.json: got a folder, want a regular file"},
		{"too large", func(e *pretrained.Encoder, from, _ string) error {
			changeTensors(t, from, halves(safetensors.F16))
			v, _ := e.Params.Get("encoder.layer.1.output.dense.weight")
			v.Float64s()[7] = 1e6
			return nil
		}, `tensor "encoder.layer.1.output.dense.weight": got 1e+06, want a number that F16 holds`},
		{"others", func(_ *pretrained.Encoder, _, to string) error {
			return os.WriteFile(filepath.Join(to, "x"), nil, 0o644)
		}, "got a folder that is not empty, want a new or empty one"},
	} {
		t.Run(row.name, func(t *testing.T) {
			from, to := encoderFolder(t, "bert"), t.TempDir()
			e, err := pretrained.OpenEncoder(from)
			require.NoError(t, err)
			require.NoError(t, row.change(e, from, to))
			before := filesIn(t, to)
			_, err = e.Write(to)
			require.ErrorContains(t, err, row.want)
			require.NotContains(t, err.Error(), "\n")
			require.Equal(t, before, filesIn(t, to))
		})
	}
}
