package layers_test

import (
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// module is what a case of testdata/torch/gpt.py does with its inputs. A model has a
// loss too.
type module struct {
	forward, loss func(b *layers.Build, in map[string]*G.Node) (*G.Node, error)
}

// gptCases are the cases of testdata/torch/gpt.py.
var gptCases = map[string]func(s layers.Scope) (module, error){
	"gpt":                gpt(func(*layers.GPTConfig) {}),
	"gpt_no_bias":        gpt(func(c *layers.GPTConfig) { c.Bias = false }),
	"gpt_untied":         gpt(func(c *layers.GPTConfig) { c.TieWordEmbeddings = false }),
	"gpt_untied_no_bias": gpt(func(c *layers.GPTConfig) { c.TieWordEmbeddings, c.Bias = false, false }),
	"gpt_gelu":           gpt(func(c *layers.GPTConfig) { c.Activation, c.DimFeedforward = "gelu", 17 }),
	"gpt_grouped":        gpt(func(c *layers.GPTConfig) { c.NumHeads, c.NumKVHeads, c.NumLayers = 6, 2, 1 }),
	"gpt_alone":          gpt(func(*layers.GPTConfig) {}),
	"gpt_one_token":      gpt(func(*layers.GPTConfig) {}),
	"block":              block(gptBlock),
	"block_post_norm": block(func() layers.BlockConfig {
		c := gptBlock()
		c.NormPlacement, c.MLP.Activation = layers.PostNorm, layers.GELUTanh
		return c
	}),
	"block_llama":      block(llamaBlock),
	"encoder_pre_norm": block(torchBlock),
	"encoder_post_norm": block(func() layers.BlockConfig {
		c := postNorm(torchBlock)()
		c.MLP.Activation = layers.ReLU
		return c
	}),
	"decoder_pre_norm":  decoder(torchBlock),
	"decoder_post_norm": decoder(postNorm(torchBlock)),
	"seq2seq_pre_norm":  seq2seq(func(c *layers.Seq2SeqConfig) { c.NumEncoderLayers = 2 }),
	"seq2seq_post_norm": seq2seq(func(c *layers.Seq2SeqConfig) {
		c.PostNorm, c.Sinusoidal, c.TieWordEmbeddings, c.NumDecoderLayers = true, true, true, 2
	}),
	"seq2seq_shared": seq2seq(func(c *layers.Seq2SeqConfig) {
		c.TargetVocabSize, c.Sinusoidal, c.ShareEmbeddings, c.TieWordEmbeddings = 13, true, true, true
	}),
}

// tinyGPT is the GPT of the cases.
func tinyGPT() layers.GPTConfig {
	return layers.GPTConfig{VocabSize: 13, ContextLength: 11, EmbedDim: 12, NumLayers: 2, NumHeads: 3,
		Activation: "gelu_new", TieWordEmbeddings: true, Bias: true}
}

func gpt(change func(c *layers.GPTConfig)) func(s layers.Scope) (module, error) {
	return func(s layers.Scope) (module, error) {
		c := tinyGPT()
		change(&c)
		m, err := layers.NewGPT(s, c)
		return module{
			func(b *layers.Build, in map[string]*G.Node) (*G.Node, error) { return m.Forward(b, in["ids"]) },
			func(b *layers.Build, in map[string]*G.Node) (*G.Node, error) {
				return m.Loss(b, in["ids"], in["targets"])
			},
		}, err
	}
}

func gptBlock() layers.BlockConfig {
	return layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 3, Layout: layers.GPT2, QKVBias: true, OutBias: true,
			Mask: mask.Causal{}},
		MLP:  layers.MLPConfig{DimFeedforward: 17, Bias: true},
		Norm: layers.NormConfig{Bias: true},
	}
}

func llamaBlock() layers.BlockConfig {
	return layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 6, NumKVHeads: 2, Layout: layers.Llama,
			RoPE: &graph.RoPEConfig{}, Mask: mask.Causal{}},
		MLP:  layers.MLPConfig{DimFeedforward: 17, Activation: layers.SwiGLU},
		Norm: layers.NormConfig{Kind: layers.RMSNorm},
	}
}

// torchBlock is nn.TransformerEncoderLayer with norm_first.
func torchBlock() layers.BlockConfig {
	return layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 3, Layout: layers.Torch, QKVBias: true, OutBias: true},
		MLP:       layers.MLPConfig{DimFeedforward: 17, Bias: true},
		Norm:      layers.NormConfig{Bias: true},
	}
}

func postNorm(of func() layers.BlockConfig) func() layers.BlockConfig {
	return func() layers.BlockConfig {
		c := of()
		c.NormPlacement = layers.PostNorm
		return c
	}
}

// block is a block whose keys after lengths, if there are any, are hidden.
func block(c func() layers.BlockConfig) func(s layers.Scope) (module, error) {
	return func(s layers.Scope) (module, error) {
		l, err := layers.NewBlock(s, c())
		return module{forward: func(b *layers.Build, in map[string]*G.Node) (*G.Node, error) {
			return l.Forward(b, layers.AttentionInput{Query: in["x"], Mask: unpadded(in)})
		}}, err
	}
}

func decoder(c func() layers.BlockConfig) func(s layers.Scope) (module, error) {
	return func(s layers.Scope) (module, error) {
		block := c()
		block.Attention.Mask = mask.Causal{}
		l, err := layers.NewDecoderBlock(s, layers.DecoderBlockConfig{Block: block})
		return module{forward: func(b *layers.Build, in map[string]*G.Node) (*G.Node, error) {
			return l.Forward(b, in["x"], in["memory"], nil, unpadded(in))
		}}, err
	}
}

// tinySeq2Seq is the encoder–decoder of the cases.
func tinySeq2Seq() layers.Seq2SeqConfig {
	return layers.Seq2SeqConfig{SourceVocabSize: 13, TargetVocabSize: 11, ContextLength: 7, EmbedDim: 12, NumHeads: 3,
		DimFeedforward: 17, NumEncoderLayers: 1, NumDecoderLayers: 1}
}

func seq2seq(change func(c *layers.Seq2SeqConfig)) func(s layers.Scope) (module, error) {
	return func(s layers.Scope) (module, error) {
		c := tinySeq2Seq()
		change(&c)
		m, err := layers.NewSeq2Seq(s, c)
		return module{
			func(b *layers.Build, in map[string]*G.Node) (*G.Node, error) {
				return m.Forward(b, in["source"], in["ids"], in["lengths"])
			},
			func(b *layers.Build, in map[string]*G.Node) (*G.Node, error) {
				return m.Loss(b, in["source"], in["ids"], in["lengths"], in["targets"])
			},
		}, err
	}
}

func unpadded(in map[string]*G.Node) mask.Mask {
	if in["lengths"] == nil {
		return nil
	}
	return mask.KeyLengths{Lengths: in["lengths"]}
}

// Outputs, losses, and the gradients of inputs and of every parameter, as PyTorch has
// them in float64. The tolerances are those of TestLayersEqualPyTorch, for its reason.
func TestTransformersEqualPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/gpt.safetensors")
	seen := 0
	for _, entry := range file.Names() {
		if strings.HasSuffix(entry, ".out") {
			seen++
		}
	}
	require.Equal(t, len(gptCases), seen, "cases in the file")
	for name, make := range gptCases {
		for _, p := range torchTypes {
			t.Run(name+"/"+p.label, func(t *testing.T) {
				testModule(t, torchCase{file, name + ".", p.dt, p.tol}, make)
			})
		}
	}
}

func testModule(t *testing.T, c torchCase, make func(s layers.Scope) (module, error)) {
	p := layers.NewParams(c.dt, 1)
	m := must(make(p.Scope("")))
	require.ElementsMatch(t, c.entries("param."), names(p), "the names of state_dict")
	for name := range p.All() {
		require.NoError(t, p.Set(name, c.load("param."+name)))
	}
	b := layers.NewBuild(p, layers.Train) // no dropout was asked for
	in := c.named(t, b, "x", "memory", "source", "ids", "targets", "lengths")
	out := must(m.forward(b, in))
	wrt := b.Learnables()
	require.Len(t, wrt, p.Len())
	for _, name := range []string{"x", "memory"} {
		if in[name] != nil {
			wrt = append(wrt, in[name])
		}
	}
	loss, dloss := out, "dout"
	if m.loss != nil {
		loss = must(m.loss(b, in))
		dloss = ""
	}
	grads := c.grads(t, b, loss, dloss, wrt)
	run(t, append(grads, out, loss)...)
	c.near(t, "out", out, golden.Floats(t, out.Value()))
	if m.loss != nil {
		c.near(t, "loss", loss, []float64{number(loss.Value())})
	}
	for i, x := range wrt {
		entry := "grad." + x.Name()
		if i >= p.Len() {
			entry = "d" + x.Name()
		}
		c.near(t, entry, x, golden.Floats(t, grads[i].Value()))
	}
}

// run computes nodes of one graph.
func run(t testing.TB, nodes ...*G.Node) {
	t.Helper()
	require.NoError(t, must(machine.New(nodes...)).RunAll())
}

// number is the value of a scalar.
func number(v G.Value) float64 {
	if x, ok := v.Data().(float32); ok {
		return float64(x)
	}
	return v.Data().(float64)
}

// named makes the inputs that the case has: nodes of floats, or of int64.
func (c torchCase) named(t *testing.T, b *layers.Build, names ...string) map[string]*G.Node {
	in := map[string]*G.Node{}
	for _, name := range names {
		switch {
		case len(c.entries(name)) == 0:
		case name == "x" || name == "memory":
			in[name] = input(t, b, name, c.load(name))
		default:
			shape := c.file.Shape(c.prefix + name)
			in[name] = input(t, b, name, of(c.file.Int64(c.prefix+name), shape...))
		}
	}
	return in
}

// grads are those of a loss, or of a result into which the entry dout flows.
func (c torchCase) grads(t *testing.T, b *layers.Build, of *G.Node, dout string, wrt G.Nodes) G.Nodes {
	if dout == "" {
		return must(G.Grad(of, wrt...))
	}
	return must(G.Backpropagate(G.Nodes{of}, G.Nodes{input(t, b, dout, c.load(dout))}, wrt))
}
