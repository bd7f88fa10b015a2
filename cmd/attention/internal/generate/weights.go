package generate

import (
	"encoding/json"

	"attention/cmd/attention/internal/run"
	"attention/graph/machine"
	"attention/layers"
	"attention/train/checkpoint"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// writeWeights writes the attention weights of a model over the tokens of a text, the last that its window holds, to
// a safetensors file: a tensor (H, T, T) for each layer, named by its path, and the tokens' texts as metadata.
func writeWeights(path string, m *run.OpenModel, ids []int) error {
	if most := m.Model.Context(); len(ids) > most {
		ids = ids[len(ids)-most:]
	}
	weights, err := weightsByLayer(m.Model, ids)
	if err != nil {
		return err
	}
	texts, err := text.Texts(m.Tokenizer, ids)
	if err != nil {
		return err
	}
	tokens, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	return checkpoint.WriteTensors(path, weights, map[string]string{"tokens": string(tokens)})
}

// weightsByLayer returns the attention weights by the paths of the layers.
func weightsByLayer(m run.Model, ids []int) (map[string]*tensor.Dense, error) {
	b := layers.NewBuild(m.Params(), layers.Eval)
	input := b.InputOf(tensor.Int, "ids", len(ids))
	nodes, err := m.AttentionWeights(b, input)
	if err != nil {
		return nil, err
	}
	var wanted G.Nodes
	for _, n := range nodes {
		wanted = append(wanted, n)
	}
	vm, err := machine.New(wanted...)
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	if err := G.Let(input, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))); err != nil {
		return nil, err
	}
	if err := vm.RunAll(); err != nil {
		return nil, err
	}
	weights := map[string]*tensor.Dense{}
	for path, n := range nodes {
		weights[path] = n.Value().(*tensor.Dense).Clone().(*tensor.Dense)
	}
	return weights, nil
}
