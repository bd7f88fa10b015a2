package generate

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/graph/machine"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// writeWeights writes the attention weights of a model over the tokens of a text, the last that its window holds, to
// a safetensors file: a tensor (H, T, T) for each layer, named by its path, and the tokens' texts as metadata.
func writeWeights(path string, m *run.OpenModel, ids []int) error {
	if most := m.Model.Context(); len(ids) > most {
		ids = ids[len(ids)-most:]
	}
	weights, err := weightsOf(m.Model, ids)
	if err != nil {
		return err
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		if texts[i], err = m.Tokenizer.Decode([]int{id}); err != nil {
			return err
		}
		if quoted := strconv.Quote(texts[i]); strings.Contains(quoted, `\x`) { // a part of a character
			texts[i] = quoted[1 : len(quoted)-1]
		}
	}
	tokens, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	return train.WriteTensors(path, weights, map[string]string{"tokens": string(tokens)})
}

// weightsOf returns the attention weights by the paths of the layers.
func weightsOf(m run.Model, ids []int) (map[string]*tensor.Dense, error) {
	b := layers.NewBuild(m.Params(), layers.Eval)
	b.Observe("*")
	input := b.InputOf(tensor.Int, "ids", len(ids))
	b.Of(m.Forward(b, input))
	nodes := map[string]*G.Node{}
	for _, call := range b.Calls("*") {
		nodes[call.Path] = b.Of(call.Weights())
	}
	if w, ok := m.Network.(run.Watchable); ok && len(nodes) == 0 {
		nodes["attention"] = b.Of(w.Weights(b, input)) // of a layer without an Attention, as the simple one
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, errors.New("got a model without attention, want one with")
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
