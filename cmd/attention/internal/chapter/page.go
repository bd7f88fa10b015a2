package chapter

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"attention/graph/machine"
	"attention/internal/expr"
	"attention/internal/tensorprint"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// page is one section of the chapter: a graph, and the cells that show parts of it. Its steps are sticky:
// p.Of(graph.Softmax(x)) keeps the first error for run.
type page struct {
	expr.Formula
	params *layers.Params
	build  *layers.Build
	cells  []*cell
}

// cell shows one value: a sentence on what it is, then the value.
type cell struct {
	sentence string
	form     form
	node     *G.Node  // whose value it is; nil for a count
	ids      []string // entries of testdata/chapter that hold it too
	axisIDs  []string // entries that hold the lengths of its axes, "" for none
	data     []float64
	shape    []int
	count    int
}

// form is how a cell writes its value.
type form int

const (
	asTensor form = iota // tensor([0.4306, 1.4551])
	asSize               // torch.Size([6, 2])
	asCount              // 2,360,064
)

func newPage(dt tensor.Dtype, seed int64) *page {
	params := layers.NewParams(dt, seed)
	return &page{params: params, build: layers.NewBuild(params, layers.Eval)}
}

// tensor shows the value of a node.
func (p *page) tensor(n *G.Node, sentence string, ids ...string) *cell {
	c := &cell{form: asTensor, node: n, sentence: sentence, ids: ids}
	p.cells = append(p.cells, c)
	return c
}

// size shows the shape of a node.
func (p *page) size(n *G.Node, sentence string, ids ...string) *cell {
	c := p.tensor(n, sentence, ids...)
	c.form = asSize
	return c
}

// count shows how many elements the nodes have together.
func (p *page) count(nodes G.Nodes, sentence string, ids ...string) {
	c := p.tensor(nil, sentence, ids...)
	c.form = asCount
	for _, n := range nodes {
		c.count += n.Shape().TotalSize()
	}
}

// axes names the entries of testdata/chapter that hold the lengths of the axes.
func (c *cell) axes(ids ...string) { c.axisIDs = ids }

// run computes every node that a cell shows.
func (p *page) run() error {
	if p.Err() != nil {
		return p.Err()
	}
	var wanted G.Nodes
	for _, c := range p.cells {
		if c.node != nil {
			wanted = append(wanted, c.node)
		}
	}
	vm, err := machine.New(wanted...)
	if err != nil {
		return err
	}
	err = vm.RunAll()
	for _, c := range p.cells {
		if err == nil && c.node != nil {
			err = c.read()
		}
	}
	return errors.Join(err, vm.Close())
}

// read copies the value and the shape of the cell's node.
func (c *cell) read() error {
	c.shape = slices.Clone(c.node.Shape())
	v := c.node.Value()
	if view, ok := v.(*tensor.Dense); ok && view.RequiresIterator() {
		v = view.Materialize().(*tensor.Dense)
	}
	switch data := v.Data().(type) {
	case float32:
		c.data = []float64{float64(data)}
	case float64:
		c.data = []float64{data}
	case []float32:
		c.data = make([]float64, len(data))
		for i, x := range data {
			c.data[i] = float64(x)
		}
	case []float64:
		c.data = slices.Clone(data)
	default:
		return fmt.Errorf("%v: value: got a %T, want float32 or float64", c.node, data)
	}
	return nil
}

// String is the value as PyTorch prints it.
func (c *cell) String() string {
	switch c.form {
	case asSize:
		return "torch.Size([" + strings.Trim(strings.ReplaceAll(fmt.Sprint(c.shape), " ", ", "), "[]") + "])"
	case asCount:
		return withCommas(c.count)
	}
	return tensorprint.Format(c.data, c.shape)
}

// withCommas writes a count of at least 0 in groups of three digits.
func withCommas(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", withCommas(n/1000), n%1000)
}

// print writes the page under its title.
func (p *page) print(w io.Writer, title string) error {
	text := title + "\n" + strings.Repeat("=", len(title)) + "\n\n"
	for _, c := range p.cells {
		text += c.sentence + "\n" + c.String() + "\n\n"
	}
	_, err := io.WriteString(w, text)
	return err
}
