package layers_test

import (
	"encoding/json"
	"fmt"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A decoder is data: first the shape of SmolLM2-135M, a Llama, for which nothing is allocated, and then a small decoder
// whose loss is about ln 65, since it has not learned anything.
func ExampleNewDecoder() {
	var c layers.DecoderConfig
	check(json.Unmarshal([]byte(`{
		"vocab_size": 49152, "context_length": 8192, "num_layers": 30, "tie_word_embeddings": true,
		"blocks": [{
			"attention": {"embed_dim": 576, "num_heads": 9, "num_kv_heads": 3, "rope": {"base": 100000}},
			"mlp": {"dim_feedforward": 1536, "activation": "swiglu"},
			"norm": {"kind": "rms", "eps": 1e-5}
		}]}`), &c))
	declared, err := layers.Declare(layers.NewDecoder, c)
	check(err)
	fmt.Println(declared.Len(), "tensors,", declared.Count(), "parameters")

	c.VocabSize, c.NumLayers = 65, 1
	params := layers.NewParams(tensor.Float32, 123)
	model, err := layers.NewDecoder(params.Scope(""), c)
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	ids, targets := build.InputOf(tensor.Int, "ids", 5), build.InputOf(tensor.Int, "targets", 5)
	loss := build.Of(model.Loss(build, ids, targets))
	check(build.Err())
	check(G.Let(ids, tensor.New(tensor.WithBacking([]int{18, 47, 56, 57, 58}))))
	check(G.Let(targets, tensor.New(tensor.WithBacking([]int{47, 56, 57, 58, 1}))))
	m, err := machine.New(loss)
	check(err)
	check(m.RunAll())
	fmt.Printf("loss %.0f\n", loss.Value().Data())
	// Output:
	// 272 tensors, 134515008 parameters
	// loss 4
}
