package look

import (
	"errors"
	"fmt"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/stock"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// operandsOf is a network of one layer that is no layers.Attention.
type operandsOf interface {
	Operands(b *layers.Build, ids *G.Node) (layers.AttentionOperands, error)
}

// nexter is a network that computes the logits of the last token alone.
type nexter interface {
	Next(b *layers.Build, ids *G.Node) (*G.Node, error)
}

// forward is the graph of a look.
type forward struct {
	ids     *G.Node
	layers  []layerNodes
	logits  *G.Node // (V), of the token after the last
	machine *machine.Machine
}

// layerNodes are the nodes of a layer's scores.
type layerNodes struct {
	path     string
	operands layers.AttentionOperands
}

// build builds the graph for n tokens.
func (m *Model) build(r Request, n int) (*forward, error) {
	stock.Building.Lock()
	defer stock.Building.Unlock()
	f, b, err := m.graph(Request{}, nil, n)
	if err == nil && len(r.Hide)+len(r.Heads) > 0 {
		f, b, err = m.graph(r, f.layers, n)
	}
	if err != nil {
		return nil, err
	}
	wanted := G.Nodes{f.logits}
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

// graph builds the graph without a machine. To change something it has to know the layers.
func (m *Model) graph(r Request, known []layerNodes, n int) (*forward, *layers.Build, error) {
	b := layers.NewBuild(m.open.Model.Params(), layers.Eval)
	f := &forward{ids: b.InputOf(tensor.Int, "ids", n)}
	if err := r.change(b, known, n); err != nil {
		return nil, nil, err
	}
	network := m.open.Model.Network
	if of, ok := network.(nexter); ok {
		f.logits = b.Of(of.Next(b, f.ids))
	} else {
		f.logits = b.Of(graph.LastRow(b.Of(network.Forward(b, f.ids))))
	}
	for _, call := range b.Calls("*") {
		operands, err := call.Operands()
		if err != nil {
			return nil, nil, err
		}
		f.layers = append(f.layers, layerNodes{call.Path, operands})
	}
	if of, ok := network.(operandsOf); ok && len(f.layers) == 0 {
		if known != nil {
			return nil, nil, errors.New("got a change of a layer without heads and masks, want none")
		}
		operands, err := of.Operands(b, f.ids)
		if err != nil {
			return nil, nil, err
		}
		f.layers = append(f.layers, layerNodes{"attention", operands})
	}
	return f, b, b.Err()
}

// wanted are the nodes whose values a layer is made of; some are nil.
func (l layerNodes) wanted() G.Nodes {
	p := l.operands
	return G.Nodes{p.Query, p.Key, p.ProjectedQuery, p.ProjectedKey, p.Additive, p.Config.RelativeBias, p.Config.Sinks}
}

// read copies what the machine computed.
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

func (f *forward) close() { _ = f.machine.Close() } // it ends goroutines only
