package forward

import (
	"errors"
	"fmt"

	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// passGraph is the graph of a pass.
type passGraph struct {
	layers  []*Layer // their operands belong to this graph
	logits  *G.Node  // (N, V), of the next tokens
	machine *machine.Machine
}

// ownOperands is a reading of a network that may have a layer of another type than layers.Attention. Its operands
// method reports whether there is one.
type ownOperands interface {
	operands(b *layers.Build) (o layers.AttentionOperands, ok bool, err error)
}

// plan returns the machine of the nodes that a function builds.
func plan(build func() (G.Nodes, error)) (m *machine.Machine, err error) {
	err = expr.Building(func() error {
		nodes, err := build()
		if err != nil {
			return err
		}
		m, err = machine.New(nodes...)
		return err
	})
	return m, err
}

// newPassGraph builds the graph of a text. Heads can be changed only when the layers are known; then the graph is built
// again.
func newPassGraph(p *layers.Params, text reading, r Request) (f *passGraph, err error) {
	m, err := plan(func() (G.Nodes, error) {
		if f, _, err = buildPassGraph(p, text, Request{}, nil); err != nil {
			return nil, err
		}
		if r.changes() {
			if f, _, err = buildPassGraph(p, text, r, f.layers); err != nil {
				return nil, err
			}
		}
		return f.wanted()
	})
	if err != nil {
		return nil, err
	}
	f.machine = m
	return f, nil
}

// wanted returns the nodes that a pass computes: the logits and the operands of all layers.
func (f *passGraph) wanted() (G.Nodes, error) {
	wanted := G.Nodes{f.logits}
	for _, l := range f.layers {
		p := l.kept
		if l.Linear {
			o := l.linear
			p = layers.AttentionOperands{Query: o.Query, Key: o.Key, Value: o.Value, ProjectedQuery: o.Config.Decay,
				ProjectedKey: o.Config.Beta}
		}
		for _, n := range (G.Nodes{p.Query, p.Key, p.Value, p.ProjectedQuery, p.ProjectedKey, p.Additive,
			p.Config.RelativeBias, p.Config.LogGates, p.Config.Sinks}) {
			if n != nil {
				wanted = append(wanted, n)
			}
		}
		_, err := mask.WithNodes(p.Config.Mask, func(n *G.Node) *G.Node {
			if n.Op() != nil { // it is computed, like the choice of blocks
				wanted = append(wanted, n)
			}
			return n
		})
		if err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

// buildPassGraph builds the graph without a machine.
func buildPassGraph(p *layers.Params, text reading, r Request, known []*Layer) (*passGraph, *layers.Build, error) {
	b := layers.NewBuild(p, layers.Eval)
	if r.changes() {
		for _, l := range known {
			if l.Fixed {
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
	f := &passGraph{logits: text.build(b)}
	if err := f.addLayers(b, text); err != nil {
		return nil, nil, err
	}
	if of, ok := text.(ownOperands); ok && len(f.layers) == 0 {
		operands, ok, err := of.operands(b)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			l := newLayer("attention", place{}, operands)
			l.Fixed = true
			f.layers = append(f.layers, l)
		}
	}
	if err := b.Err(); err == nil && len(f.layers) == 0 {
		return nil, nil, errors.New("got a model without attention, want one with")
	}
	return f, b, b.Err()
}

// addLayers adds the layers in the order in which a build calls them.
func (f *passGraph) addLayers(b *layers.Build, text reading) error {
	linear := b.LinearCalls("*")
	addLinear := func(upTo int) error {
		for ; len(linear) > 0 && linear[0].After <= upTo; linear = linear[1:] {
			operands, err := linear[0].Operands()
			if err != nil {
				return err
			}
			path := linear[0].Path
			f.layers = append(f.layers, newLinearLayer(path, text.place(path), operands))
		}
		return nil
	}
	calls := b.Calls("*")
	for i, call := range calls {
		if err := addLinear(i); err != nil {
			return err
		}
		operands, err := call.Operands()
		if err != nil {
			return err
		}
		f.layers = append(f.layers, newLayer(call.Path, text.place(call.Path), operands))
	}
	return addLinear(len(calls))
}

// keep stores the layers in a pass, with copies of the computed values.
func (f *passGraph) keep(l *Pass) error {
	all := map[[2]int]*common{}
	for i, layer := range f.layers {
		if err := layer.keep(); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
		of := [2]int{layer.Queries, layer.Keys}
		if all[of] == nil {
			all[of] = layer.common
		}
		layer.common, layer.queryTokens, layer.keyTokens = all[of], l.Sequences[of[0]].Tokens, l.Sequences[of[1]].Tokens
	}
	l.Layers = f.layers
	return nil
}

func (f *passGraph) close() { _ = f.machine.Close() } // it never fails
