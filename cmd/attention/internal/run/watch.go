package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"attention/layers"
	"attention/train"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ProbeText is the tokens that the attention weights of a probe are about. A note of watch.safetensors holds it as
// JSON under the name of the weights.
type ProbeText struct {
	Queries []string `json:"queries"`
	Keys    []string `json:"keys"`
	Causal  bool     `json:"causal"` // whether a query sees no later key
}

// The caps of a probe.
const (
	probeTokens  = 32      // of its text
	probeWeights = 100_000 // of all heads together; it has fewer tokens if need be
	watchedParts = 4       // matrices of queries that are kept over time
)

// ProbeTokens returns the number of tokens of the text whose attention weights a run records, or 0 if the model has
// too many heads.
func (c ModelConfig) ProbeTokens() int {
	heads := 1
	if c.GPT != nil {
		heads = c.GPT.NumLayers * c.GPT.NumHeads
	} else if n := c.Layer.Attention.NumHeads; n > 0 {
		heads = n
	}
	n := int(math.Sqrt(float64(probeWeights / heads)))
	if !c.Causal() {
		return min(c.Context(), n) // training uses its last query only
	}
	return min(c.Context(), n, probeTokens)
}

// Watch returns what a run of the model records: the attention weights of the first ProbeTokens ids, and parts of the
// matrices of queries. With stats also those of each head over all ids, that are at most the context.
func (m Model) Watch(t text.Tokenizer, ids []int, stats bool) (train.WatchConfig, error) {
	part := train.MatrixPart{}
	if m.GPT != nil {
		part.Columns = m.GPT.EmbedDim
	}
	c := train.WatchConfig{Matrices: QueryParts(m.Params(), m.Queries(), part)}
	shown := ids[:m.ProbeTokens()]
	tokens, err := TokenTexts(t, shown)
	c.Probe = func(b *layers.Build) (p train.Probe, err error) {
		if len(shown) > 0 {
			weights, err := m.AttentionWeights(b, boundIDs(b, "ids", shown))
			if err == nil {
				p, err = NewProbe(weights, func(string) ProbeText { return ProbeText{tokens, tokens, m.Causal()} })
			}
			if err != nil {
				return p, err
			}
		}
		if stats {
			err = m.addHeadStats(b, &p, ids)
		}
		return p, err
	}
	return c, err
}

// boundIDs returns an input of a graph that has a value.
func boundIDs(b *layers.Build, name string, ids []int) *G.Node {
	n := b.InputOf(tensor.Int, name, len(ids))
	return b.Of(n, G.Let(n, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))))
}

// CheckHeads returns an error for a model without heads that can be looked into, and the flag that does so.
func (m Model) CheckHeads(flag string) error {
	b := layers.NewBuild(m.Params(), layers.Eval)
	b.Of(m.Forward(b, b.InputOf(tensor.Int, "ids", 1)))
	if err := b.Err(); err != nil {
		return err
	}
	if len(b.Calls("*")) == 0 {
		return fmt.Errorf("--%s: got layer %s, which has no heads, want another", flag, m.Title())
	}
	return nil
}

// addHeadStats adds the statistics of each head over ids to a probe.
func (m Model) addHeadStats(b *layers.Build, p *train.Probe, ids []int) error {
	before := len(b.Calls("*"))
	b.Observe("*")
	b.Of(m.Forward(b, boundIDs(b, "stats.ids", ids)))
	if err := b.Err(); err != nil {
		return err
	}
	s, err := layers.NewHeadStats(b.Calls("*")[before:])
	if err == nil {
		p.Nodes, p.Numbers = s.Nodes, s.Numbers
	}
	return err
}

// NewProbe returns a probe of attention weights, with a note of the tokens that each is about.
func NewProbe(weights map[string]*G.Node, text func(name string) ProbeText) (train.Probe, error) {
	p := train.Probe{Tensors: weights, Notes: map[string]string{}}
	for name := range weights {
		note, err := json.Marshal(text(name))
		if err != nil {
			return p, err
		}
		p.Notes[name] = string(note)
	}
	return p, nil
}

// AttentionWeights returns the attention weights ([H,] T, T) of the model over ids, int (T), by the paths of its
// layers. It begins the build.
func (m Model) AttentionWeights(b *layers.Build, ids *G.Node) (map[string]*G.Node, error) {
	b.Of(m.Forward(b, ids))
	nodes := map[string]*G.Node{}
	for _, call := range b.Calls("*") {
		nodes[call.Path] = b.Of(call.Weights())
	}
	if w, ok := m.Network.(Watchable); ok && len(nodes) == 0 {
		nodes["attention"] = b.Of(w.Weights(b, ids)) // of a layer without an Attention, as the simple one
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, errors.New("got a model without attention, want one with")
	}
	return nodes, nil
}

// TokenTexts returns the text of each token; that of a part of a character is quoted, as \xc3.
func TokenTexts(t text.Tokenizer, ids []int) ([]string, error) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		var err error
		if texts[i], err = t.Decode([]int{id}); err != nil {
			return nil, err
		}
		if quoted := strconv.Quote(texts[i]); strings.Contains(quoted, `\x`) {
			texts[i] = quoted[1 : len(quoted)-1]
		}
	}
	return texts, nil
}

// QueryParts returns parts of some of the matrices that make queries: of parameters with a part of a name, or of the
// first matrix if there is none. They have at most the rows and columns of most: a matrix may make keys and values too.
func QueryParts(p *layers.Params, name string, most train.MatrixPart) []train.MatrixPart {
	var all []train.MatrixPart
	for param, shape := range p.Shapes() {
		if shape.Dims() == 2 && strings.Contains(param, name) {
			all = append(all, train.MatrixPart{Param: param, Rows: most.Rows, Columns: most.Columns})
		}
	}
	if len(all) > 0 {
		return spreadParts(all)
	}
	for param, shape := range p.Shapes() {
		if shape.Dims() == 2 {
			return []train.MatrixPart{{Param: param}}
		}
	}
	return nil
}

// spreadParts returns the first part, the last one and some between.
func spreadParts(all []train.MatrixPart) (some []train.MatrixPart) {
	n := min(len(all), watchedParts)
	for i := range n {
		some = append(some, all[i*(len(all)-1)/max(n-1, 1)])
	}
	return some
}

// ProbeTextOf returns the tokens of a probe's weights that a run has recorded.
func ProbeTextOf(w *train.Watched, name string) (t ProbeText, err error) {
	if err = json.Unmarshal([]byte(w.Notes[name]), &t); err != nil {
		return t, fmt.Errorf("note %.100q: %w", name, err)
	}
	shape := w.Probe[name].Shape()
	queries, keys := shape[max(shape.Dims()-2, 0)], shape[shape.Dims()-1]
	if len(t.Queries) != queries || len(t.Keys) != keys {
		return t, fmt.Errorf("note %.100q: got %d queries and %d keys, want %d and %d",
			name, len(t.Queries), len(t.Keys), queries, keys)
	}
	return t, nil
}
