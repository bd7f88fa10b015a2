package generate

import (
	"encoding/json"
	"maps"
	"slices"

	"attention/cmd/attention/internal/run"
	"attention/layers"
	"attention/train"
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
	nodes, err := m.AttentionWeights(b, b.InputOf(tensor.Int, "ids", len(ids)))
	if err != nil {
		return nil, err
	}
	paths, wanted := slices.Sorted(maps.Keys(nodes)), G.Nodes{}
	for _, path := range paths {
		wanted = append(wanted, nodes[path])
	}
	input := tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))
	values, err := train.Predict(b, train.Values{"ids": input}, wanted...)
	if err != nil {
		return nil, err
	}
	weights := map[string]*tensor.Dense{}
	for i, path := range paths {
		weights[path] = values[i]
	}
	return weights, nil
}
