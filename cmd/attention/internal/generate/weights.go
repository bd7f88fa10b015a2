package generate

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/train/checkpoint"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// writeWeights writes the attention weights of a model over the tokens of a text, or the last ones that fit into its
// window, to a safetensors file: a tensor (H, T, T) for each layer, named by its path, with the tokens' texts as
// metadata.
func writeWeights(ctx context.Context, path string, m *models.OpenModel, ids []int) error {
	if most := m.Model.Context(); len(ids) > most {
		ids = ids[len(ids)-most:]
	}
	weights, err := weightsByLayer(ctx, m.Model, ids)
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
func weightsByLayer(ctx context.Context, m settings.Model, ids []int) (map[string]*tensor.Dense, error) {
	var paths []string
	f, err := layers.NewFunc(m.Params(), func(b *layers.Build, in layers.Inputs) (weights []*G.Node) {
		nodes, err := m.AttentionWeights(b, in["ids"])
		if err != nil {
			return b.Nodes(nil, err)
		}
		for _, path := range slices.Sorted(maps.Keys(nodes)) {
			paths, weights = append(paths, path), append(weights, nodes[path])
		}
		return weights
	}, layers.FuncConfig{})
	if err != nil {
		return nil, err
	}
	input := tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))
	values, err := f.Call(ctx, layers.Values{"ids": input})
	if err != nil {
		return nil, err
	}
	weights := map[string]*tensor.Dense{}
	for i, path := range paths {
		weights[path] = values[i]
	}
	return weights, nil
}
