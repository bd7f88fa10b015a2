package pretrained_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/layers/generate"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// familyCases are the folders in testdata/families, which families.py made.
var familyCases = []string{"gpt2", "llama", "llama3", "smollm2", "mistral", "qwen2", "qwen2_window", "qwen3", "smollm3",
	"smollm3_window", "olmo2", "gemma2", "gemma3", "gemma3_types", "gpt_neox", "gpt_neox_serial"}

// familyFolder returns the folder of a case.
func familyFolder(t testing.TB, name string) string {
	dir, err := golden.Path("families", name)
	require.NoError(t, err)
	return dir
}

// as returns a model with its weights in another type.
func as(t testing.TB, g *pretrained.GPT, dt tensor.Dtype) *pretrained.GPT {
	p := layers.NewBlankParams(dt)
	m, err := layers.NewDecoder(p.Scope(""), g.Model.Config())
	require.NoError(t, err)
	require.NoError(t, g.CopyTo(p))
	other := *g
	other.Model, other.Params = m, p
	return &other
}

// Each family's model has PyTorch's logits, loss and gradients. The gradients have the names of the folder's weights.
func TestFamilies(t *testing.T) {
	for _, name := range familyCases {
		t.Run(name, func(t *testing.T) {
			f := golden.Load(t, "families/"+name+"/values.safetensors")
			g, err := pretrained.ReadGPT(familyFolder(t, name))
			require.NoError(t, err)
			for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-10, tensor.Float32: 1e-5} {
				m := as(t, g, dt)
				logits := run(t, m, f.Int64("ids"), f.Shape("ids")...)
				golden.Close(t, "logits", f.Float64("logits"), logits, tolerance, tolerance)
				loss, gradients := lossAndGradients(t, m, f)
				require.InDelta(t, f.Float64("loss")[0], loss, tolerance)
				all := tensorsOf(t, gradients)
				all = slices.DeleteFunc(all, func(x safetensors.Tensor) bool { // the copy in a tied head
					return x.Name == "lm_head.weight" && g.Model.Config().TieWordEmbeddings
				})
				for _, x := range all {
					want := "grad." + x.Name
					require.Equal(t, f.Shape(want), x.Shape, want)
					golden.Close(t, want, f.Float64(want), safetensors.Floats[float64](x.Data), tolerance, tolerance)
				}
				require.Len(t, f.Names(), len(all)+5, "a gradient for each weight")
			}
		})
	}
}

// lossAndGradients returns the loss of a case, and its gradients in the form of parameters.
func lossAndGradients(t testing.TB, g *pretrained.GPT, f *golden.File) (float64, *pretrained.GPT) {
	b := layers.NewBuild(g.Params, layers.Eval)
	in := map[string]*G.Node{}
	for _, name := range []string{"ids", "targets"} {
		in[name] = b.InputOf(tensor.Int64, name, f.Shape(name)...)
		require.NoError(t, b.Err())
		require.NoError(t, G.Let(in[name], tensor.New(tensor.WithShape(f.Shape(name)...), tensor.WithBacking(f.Int64(name)))))
	}
	loss, err := g.Model.Loss(b, in["ids"], in["targets"])
	require.NoError(t, err)
	grads, err := G.Grad(loss, b.Learnables()...)
	require.NoError(t, err)
	require.Len(t, grads, g.Params.Len())
	m, err := machine.New(append(G.Nodes{loss}, grads...)...)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	gradients := as(t, g, g.Dtype())
	for i, n := range b.Learnables() {
		require.NoError(t, gradients.Params.Set(n.Name(), grads[i].Value().(*tensor.Dense)))
	}
	if x, ok := loss.Value().Data().(float32); ok {
		return float64(x), gradients
	}
	return loss.Value().Data().(float64), gradients
}

// tensorsOf returns the weights of a model as they are in a folder.
func tensorsOf(t testing.TB, g *pretrained.GPT) []safetensors.Tensor {
	dir := t.TempDir()
	_, err := g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: g.Dtype().String()})
	require.NoError(t, err)
	return tensorsIn(t, dir)
}

// tensorsIn returns the weights in a folder, sorted by their names.
func tensorsIn(t testing.TB, dir string) (all []safetensors.Tensor) {
	names, err := filepath.Glob(filepath.Join(dir, "model*.safetensors"))
	require.NoError(t, err)
	for _, name := range names {
		f, err := safetensors.ReadFile(name)
		require.NoError(t, err)
		all = append(all, f.Tensors...)
	}
	slices.SortFunc(all, func(a, b safetensors.Tensor) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Each family continues a text as PyTorch does, both token by token with a cache and with a whole pass per token; the
// logits of both ways are equal.
func TestFamiliesContinueATextAsPyTorch(t *testing.T) {
	for _, name := range familyCases {
		f := golden.Load(t, "families/"+name+"/values.safetensors")
		var want []int
		for _, id := range f.Int64("greedy") {
			want = append(want, int(id))
		}
		g, err := pretrained.ReadGPT(familyFolder(t, name))
		require.NoError(t, err)
		for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float32: 1e-5, tensor.Float64: 1e-12} {
			m := as(t, g, dt)
			cached, err := generate.New(m.Model, generate.Config{})
			require.NoError(t, err)
			whole, err := generate.NewWithoutCache(m.Model, len(want), generate.Config{})
			require.NoError(t, err)
			require.NoError(t, cached.Prompt(t.Context(), want[:3]))
			require.NoError(t, whole.Prompt(t.Context(), want[:3]))
			for i, id := range want[3:] {
				golden.Close(t, name, whole.Logits(), cached.Logits(), tolerance, tolerance)
				for _, generator := range []*generate.Generator{cached, whole} {
					got, err := generator.Next(t.Context())
					require.NoError(t, err)
					require.Equal(t, id, got, "%s: token %d", name, 3+i)
				}
			}
		}
	}
}

// A folder is written as it was read: each weight in its type, bit for bit, config.json and the other files.
func TestFamiliesGoOut(t *testing.T) {
	for _, name := range familyCases {
		from, to := familyFolder(t, name), t.TempDir()
		g, err := pretrained.ReadGPT(from)
		require.NoError(t, err)
		_, err = g.Write(to, pretrained.WriteConfig{Format: pretrained.HuggingFace})
		require.NoError(t, err)
		want := slices.DeleteFunc(tensorsIn(t, from), func(x safetensors.Tensor) bool { return isBuffer(x.Name) })
		require.Equal(t, want, tensorsIn(t, to), name)
		in, err := os.ReadFile(filepath.Join(from, "config.json"))
		require.NoError(t, err)
		out, err := os.ReadFile(filepath.Join(to, "config.json"))
		require.NoError(t, err)
		require.Equal(t, string(in), string(out))
	}
}

func isBuffer(name string) bool {
	return strings.HasSuffix(name, "inv_freq") || strings.HasSuffix(name, "attention.masked_bias") ||
		strings.HasSuffix(name, "attention.bias")
}

// A model that was not read from a folder is written as a member of one of the families, and is the same model when it
// is read again.
func TestDecodersGoOutAsFamilies(t *testing.T) {
	for _, name := range familyCases {
		g, err := pretrained.ReadGPT(familyFolder(t, name))
		require.NoError(t, err)
		m := &pretrained.GPT{Model: g.Model, Params: g.Params, EndOfText: -1}
		dir, dtype := t.TempDir(), "float32"
		if strings.HasPrefix(name, "gemma") { // the scale of its embeddings is rounded to the folder's type
			_, err = m.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace})
			require.ErrorContains(t, err,
				"dtype: got float32, want bfloat16, to which the scale of the model's embeddings is rounded")
			dtype = "bfloat16"
		}
		_, err = m.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: dtype})
		require.NoError(t, err, name)
		again, err := pretrained.ReadGPT(dir)
		require.NoError(t, err, name)
		f := golden.Load(t, "families/"+name+"/values.safetensors")
		ids, shape := f.Int64("ids"), f.Shape("ids")
		require.Equal(t, run(t, m, ids, shape...), run(t, again, ids, shape...), name)
	}
}
