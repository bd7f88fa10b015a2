package look

import (
	"errors"
	"fmt"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// forward is the graph of a look.
type forward struct {
	layers                []layerNodes
	logits, probabilities *G.Node // (N, V), of the tokens to come
	machine               *machine.Machine
}

// layerNodes are the nodes of a layer's scores.
type layerNodes struct {
	path string
	place
	fixed    bool // the layer has neither heads nor masks, and cannot be changed
	operands layers.AttentionOperands
}

// ownOperands is a reading of a network that may have a layer of another type than layers.Attention. Its operands
// method reports whether there is one.
type ownOperands interface {
	operands(b *layers.Build) (o layers.AttentionOperands, ok bool, err error)
}

// newForward builds the graph of a text. Heads can be changed once the layers are known: then it is built again.
func newForward(p *layers.Params, text reading, r Request) (*forward, error) {
	var f *forward
	err := expr.Building(func() (err error) { f, err = makeForward(p, text, r); return err })
	return f, err
}

func makeForward(p *layers.Params, text reading, r Request) (*forward, error) {
	f, b, err := buildForward(p, text, Request{}, nil)
	if err != nil {
		return nil, err
	}
	if r.changes() {
		if f, b, err = buildForward(p, text, r, f.layers); err != nil {
			return nil, err
		}
	}
	f.probabilities = b.Of(graph.Softmax(f.logits))
	wanted := G.Nodes{f.logits, f.probabilities}
	for _, l := range f.layers {
		for _, n := range l.wanted() {
			if n != nil {
				wanted = append(wanted, n)
			}
		}
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	f.machine, err = machine.New(wanted...)
	return f, err
}

// buildForward builds the graph without a machine.
func buildForward(p *layers.Params, text reading, r Request, known []layerNodes) (*forward, *layers.Build, error) {
	b := layers.NewBuild(p, layers.Eval)
	if r.changes() {
		for _, l := range known {
			if l.fixed {
				return nil, nil, errors.New("got a change of a layer without heads and masks, want none")
			}
		}
		if err := text.hide(b, r.Hide); err != nil {
			return nil, nil, err
		}
		if err := r.scale(b, known); err != nil {
			return nil, nil, err
		}
	}
	f := &forward{logits: text.build(b)}
	for _, call := range b.Calls("*") {
		operands, err := call.Operands()
		if err != nil {
			return nil, nil, err
		}
		f.layers = append(f.layers, layerNodes{path: call.Path, place: text.place(call.Path), operands: operands})
	}
	if of, ok := text.(ownOperands); ok && len(f.layers) == 0 {
		operands, ok, err := of.operands(b)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			f.layers = append(f.layers, layerNodes{path: "attention", fixed: true, operands: operands})
		}
	}
	return f, b, b.Err()
}

// wanted returns the nodes whose values a layer keeps; some are nil.
func (l layerNodes) wanted() G.Nodes {
	p := l.operands
	return G.Nodes{p.Query, p.Key, p.Value, p.ProjectedQuery, p.ProjectedKey, p.Additive,
		p.Config.RelativeBias, p.Config.Sinks}
}

// read copies the layers of a look from what the machine computed.
func (f *forward) read(l *Look) error {
	for i, nodes := range f.layers {
		layer, err := nodes.read()
		if err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
		l.Layers = append(l.Layers, layer)
	}
	return nil
}

func (f *forward) close() { _ = f.machine.Close() } // it never fails
