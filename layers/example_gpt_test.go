package layers_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func ExampleDeclare() {
	// The smallest GPT-2. Nothing is allocated.
	c := layers.GPT2Defaults()
	check(json.Unmarshal([]byte(`{"vocab_size": 50257, "context_length": 1024, "embed_dim": 768, "num_layers": 12,
		"num_heads": 12}`), &c))
	params, err := layers.Declare(layers.NewGPT, c)
	check(err)
	fmt.Println(params.Len(), "tensors,", params.Count(), "parameters")
	for name, shape := range params.Shapes() {
		fmt.Println(name, shape)
		break
	}
	// Output:
	// 148 tensors, 124439808 parameters
	// transformer.wte.weight (50257, 768)
}

func ExampleNewGPT() {
	params := layers.NewParams(tensor.Float32, 123)
	model, err := layers.NewGPT(params.Scope(""),
		layers.GPTConfig{VocabSize: 65, ContextLength: 32, EmbedDim: 48, NumLayers: 2, NumHeads: 3, Activation: "gelu_new",
			TieWordEmbeddings: true, Bias: true})
	check(err)
	build := layers.NewBuild(params, layers.Train)
	ids := build.InputOf(tensor.Int, "ids", 2, 5) // two sequences of five tokens
	targets := build.InputOf(tensor.Int, "targets", 2, 5)
	loss, err := model.Loss(build, ids, targets)
	check(err)
	gradients, err := G.Grad(loss, build.Learnables()...)
	check(err)

	text := []int{18, 47, 56, 57, 58, 1, 15, 47, 58, 47, 64}
	check(G.Let(ids, tensor.New(tensor.WithShape(2, 5), tensor.WithBacking(text[:10]))))
	check(G.Let(targets, tensor.New(tensor.WithShape(2, 5), tensor.WithBacking(text[1:]))))
	m, err := machine.New(append(gradients, loss)...)
	check(err)
	check(m.RunAll())
	// about ln 65, since the model has not learned anything
	fmt.Printf("loss %.2f, with %d gradients\n", loss.Value().Data(), len(gradients))
	// Output:
	// loss 4.23, with 28 gradients
}

// The attention weights of each block of a GPT (output_attentions=True of transformers). The example prints one line
// for each block: the weights of the last of five tokens in the first head.
func ExampleBuild_Calls() {
	params := layers.NewParams(tensor.Float32, 123)
	model, err := layers.NewGPT(params.Scope(""), layers.GPTConfig{VocabSize: 65, ContextLength: 32, EmbedDim: 48,
		NumLayers: 3, NumHeads: 3, TieWordEmbeddings: true})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	ids := build.InputOf(tensor.Int, "ids", 1, 5)
	nodes := G.Nodes{build.Of(model.Forward(build, ids))}
	calls := build.Calls("transformer.h.*.attn")
	for _, call := range calls {
		nodes = append(nodes, build.Of(call.Weights())) // (B, H, T, S)
	}
	check(build.Err())

	check(G.Let(ids, tensor.New(tensor.WithShape(1, 5), tensor.WithBacking([]int{18, 47, 56, 57, 58}))))
	m, err := machine.New(nodes...)
	check(err)
	check(m.RunAll())
	for i, weights := range nodes[1:] {
		fmt.Printf("%s %v %.3f\n", calls[i].Path, weights.Shape(), weights.Value().Data().([]float32)[4*5:5*5])
	}
	// Output:
	// transformer.h.0.attn (1, 3, 5, 5) [0.197 0.199 0.199 0.203 0.202]
	// transformer.h.1.attn (1, 3, 5, 5) [0.202 0.204 0.204 0.192 0.198]
	// transformer.h.2.attn (1, 3, 5, 5) [0.204 0.202 0.202 0.198 0.193]
}

func ExampleDecoder_ForwardCached() {
	params := layers.NewParams(tensor.Float32, 123)
	model, err := layers.NewGPT(params.Scope(""),
		layers.GPTConfig{VocabSize: 65, ContextLength: 32, EmbedDim: 48, NumLayers: 2, NumHeads: 3, Activation: "gelu_new",
			Bias: true})
	check(err)
	cache, err := model.NewCache(graph.KVCacheConfig{})
	check(err)
	// One graph reads one token. The tokens before it are in the cache. What came before it is in the cache.
	build := layers.NewBuild(params, layers.Eval)
	id := build.InputOf(tensor.Int, "id", 1)
	start := build.InputOf(tensor.Int, "start")
	logits, err := model.ForwardCached(build, id, start, cache)
	check(err)
	m, err := machine.New(logits)
	check(err)

	token := 18
	for range 6 {
		check(G.Let(id, tensor.New(tensor.WithShape(1), tensor.WithBacking([]int{token}))))
		check(G.Let(start, cache.Len()))
		check(m.RunAll())
		scores := logits.Value().Data().([]float32) // of each of the 65 tokens
		token = slices.Index(scores, slices.Max(scores))
		fmt.Print(token, " ")
	}
	fmt.Println("after", cache.Len(), "tokens")
	// Output:
	// 19 52 47 53 42 46 after 6 tokens
}

func ExampleBlock() {
	// A block of Llama 3's form, on tokens of width 8.
	params := layers.NewParams(tensor.Float32, 123)
	block, err := layers.NewBlock(params.Scope("model.layers.0"), layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 8, NumHeads: 4, NumKVHeads: 2, Layout: layers.Llama,
			RoPE: &graph.RoPEConfig{Base: 500000}, Mask: mask.Causal{}},
		MLP:  layers.MLPConfig{DimFeedforward: 28, Activation: layers.SwiGLU},
		Norm: layers.NormConfig{Kind: layers.RMSNorm, Eps: 1e-5},
	})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	x := build.Input("x", 2, 5, 8)
	y, err := block.Forward(build, layers.AttentionInput{Query: x})
	check(err)
	fmt.Println(y.Shape())
	for name, value := range params.All() {
		fmt.Println(name, value.Shape())
	}
	// Output:
	// (2, 5, 8)
	// model.layers.0.input_layernorm.weight (8)
	// model.layers.0.self_attn.q_proj.weight (8, 8)
	// model.layers.0.self_attn.k_proj.weight (4, 8)
	// model.layers.0.self_attn.v_proj.weight (4, 8)
	// model.layers.0.self_attn.o_proj.weight (8, 8)
	// model.layers.0.post_attention_layernorm.weight (8)
	// model.layers.0.mlp.gate_proj.weight (28, 8)
	// model.layers.0.mlp.up_proj.weight (28, 8)
	// model.layers.0.mlp.down_proj.weight (8, 28)
}
