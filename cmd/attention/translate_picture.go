package main

import (
	"bytes"
	"fmt"
	"slices"

	"attention/graph/machine"
	"attention/layers"

	"github.com/moby/sys/atomicwriter"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// writeCross draws what the last block of the decoder looks at while it writes the ISO
// date of a pair.
func (r *translateRun) writeCross(p datePair) error {
	weights, err := r.crossWeights(p)
	if err != nil {
		return err
	}
	canvas, err := crossCanvas(p, weights)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&content); err != nil {
		return err
	}
	if err := atomicwriter.WriteFile(r.options.out, content.Bytes(), 0o644); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	fmt.Fprintf(r.out, "\n%s: what the decoder looks at to write %s for %q\n", r.options.out, p.iso, p.written)
	return nil
}

// crossWeights are those of the decoder's last block, for each head those of each
// character of the ISO date to all of the written one.
func (r *translateRun) crossWeights(p datePair) (heads []crossGrid, err error) {
	batch := newPairBatch(r.alphabets, 1)
	if _, err := batch.fill([]datePair{p}); err != nil {
		return nil, err
	}
	b := layers.NewBuild(r.params, layers.Eval)
	input := func(name string, ids []int) *G.Node {
		var n *G.Node
		if err == nil {
			n, err = b.InputOf(tensor.Int, name, len(ids)), b.Err()
		}
		if err == nil {
			err = G.Let(n, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids)))
		}
		return n
	}
	source, target := input(sourceInput, batch.source[:batch.lengths[0]]), input(targetInput, batch.target)
	if err != nil {
		return nil, err
	}
	memory, err := r.model.Encode(b, source, nil)
	if err != nil {
		return nil, err
	}
	_, blocks, err := r.model.DecodeWithWeights(b, target, memory, nil)
	if err != nil {
		return nil, err
	}
	weights := blocks[len(blocks)-1] // (H, T, S)
	m, err := machine.New(weights)
	if err != nil {
		return nil, err
	}
	if err := m.RunAll(); err != nil {
		return nil, err
	}
	all := float64s(weights.Value().(*tensor.Dense))
	for head := range slices.Chunk(all, isoLength*batch.lengths[0]) {
		heads = append(heads, crossGrid{batch.lengths[0], head})
	}
	return heads, nil
}

// crossCanvas draws the heads in two columns and the scale of colours on the right.
func crossCanvas(p datePair, heads []crossGrid) (*vgimg.Canvas, error) {
	top := 0.01 // a scale needs an extent
	for _, g := range heads {
		top = max(top, slices.Max(g.weights))
	}
	colors, err := whiteToBlue(top)
	if err != nil {
		return nil, err
	}
	all := len(heads)
	heads = heads[:min(all, shownHeads)]
	cols := min(len(heads), 2)
	rows := (len(heads) + cols - 1) / cols
	const wide, high, bar = 5.5 * vg.Inch, 2.9 * vg.Inch, 0.9 * vg.Inch
	canvas := vgimg.New(wide*vg.Length(cols)+bar, high*vg.Length(max(rows, 2)))
	area := draw.New(canvas)
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: 14, PadY: 14, PadTop: 8, PadBottom: 8, PadLeft: 8}
	for h, g := range heads {
		title := fmt.Sprintf("cross-attention weights, head %d of %d", h+1, all)
		crossPlot(title, p, g, colors).Draw(tiles.At(draw.Crop(area, 0, -bar, 0, 0), h%cols, h/cols))
	}
	scale := newPlot("", "", "")
	scale.Add(&plotter.ColorBar{ColorMap: colors, Vertical: true})
	scale.HideX()
	scale.Draw(draw.Crop(area, wide*vg.Length(cols)+8, -8, 28, -28))
	return canvas, nil
}

func crossPlot(title string, pair datePair, g crossGrid, colors palette.ColorMap) *plot.Plot {
	p := newPlot(title, "encoder's input", "decoder's output")
	heat := plotter.NewHeatMap(g, colors.Palette(256))
	heat.Min, heat.Max = 0, colors.Max()
	p.Add(heat)
	var keys, queries []plot.Tick
	for i, c := range pair.written {
		if c == ' ' {
			c = '·'
		}
		keys = append(keys, plot.Tick{Value: float64(i), Label: string(c)})
	}
	for i, c := range pair.iso {
		queries = append(queries, plot.Tick{Value: float64(isoLength - 1 - i), Label: string(c)})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(keys), plot.ConstantTicks(queries)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font.Size = labelSize
		axis.Tick.Length, axis.LineStyle.Width = 0, 0
	}
	return p
}

// crossGrid shows the weights of the ISO date's characters, the first one on top, to
// so many of a written date.
type crossGrid struct {
	written int
	weights []float64
}

func (g crossGrid) Dims() (cols, rows int) { return g.written, isoLength }
func (g crossGrid) X(c int) float64        { return float64(c) }
func (g crossGrid) Y(r int) float64        { return float64(r) }
func (g crossGrid) Z(c, r int) float64     { return g.weights[(isoLength-1-r)*g.written+c] }
