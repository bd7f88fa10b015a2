package diagram

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"gonum.org/v1/plot/vg"
)

// Layout places boxes, each of a width and a height, and draws lines to box i from the boxes in[i]. These come before
// box i.
type Layout func(boxes []vg.Point, in [][]int) (Placed, error)

// Best is the layout of Graphviz if its program dot is installed and works, else Layered.
func Best(boxes []vg.Point, in [][]int) (Placed, error) {
	if p, err := Graphviz(boxes, in); err == nil {
		return p, nil
	}
	return Layered(boxes, in)
}

// graphvizTime is the longest time that dot may take.
const graphvizTime = 20 * time.Second

// Graphviz is the layout by the program dot.
func Graphviz(boxes []vg.Point, in [][]int) (Placed, error) {
	ctx, cancel := context.WithTimeout(context.Background(), graphvizTime)
	defer cancel()
	dot := exec.CommandContext(ctx, "dot", "-Tplain")
	dot.Stdin = strings.NewReader(dotText(boxes, in))
	printed, err := dot.Output()
	if err != nil {
		return Placed{}, fmt.Errorf("diagram: dot: %w", err)
	}
	return parsePlain(printed, len(boxes))
}

// dotText returns the graph in Graphviz' language. Its boxes have no text.
func dotText(boxes []vg.Point, in [][]int) string {
	var text bytes.Buffer
	fmt.Fprintf(&text, "digraph {\n  graph [nodesep=%.3f, ranksep=%.3f]\n  node [shape=box, fixedsize=true, label=\"\"]\n",
		gapX/72.0, gapY/72.0)
	for i, b := range boxes {
		fmt.Fprintf(&text, "  n%d [width=%.3f, height=%.3f]\n", i, b.X.Points()/72, b.Y.Points()/72)
	}
	for i, from := range in {
		for _, j := range from {
			fmt.Fprintf(&text, "  n%d -> n%d [arrowhead=none]\n", j, i)
		}
	}
	return text.String() + "}\n"
}

// parsePlain reads the plain output of dot, whose unit is the inch.
func parsePlain(printed []byte, boxes int) (Placed, error) {
	p := Placed{Centers: make([]vg.Point, boxes)}
	for line := range strings.Lines(string(printed)) {
		if err := p.add(line); err != nil {
			return Placed{}, fmt.Errorf("diagram: dot's line %.60q: %w", line, err)
		}
	}
	if placed := bytes.Count(printed, []byte("node n")); placed != boxes {
		return Placed{}, fmt.Errorf("diagram: dot placed %d nodes, want %d", placed, boxes)
	}
	return p, nil
}

// add adds what a line of dot's plain output places.
func (p *Placed) add(line string) (err error) {
	words := strings.NewReader(line)
	var kind, from, to string
	var scale, x, y float64
	var node, points int
	fmt.Fscan(words, &kind)
	switch kind {
	case "graph":
		_, err = fmt.Fscan(words, &scale, &x, &y)
		p.Size = inches(x, y)
	case "node":
		if _, err := fmt.Fscanf(words, " n%d %f %f", &node, &x, &y); err != nil {
			return err
		}
		if node < 0 || node >= len(p.Centers) {
			return fmt.Errorf("node %d of %d", node, len(p.Centers))
		}
		p.Centers[node] = inches(x, y)
	case "edge":
		if _, err := fmt.Fscan(words, &from, &to, &points); err != nil {
			return err
		}
		var curve []vg.Point
		for range points {
			if _, err := fmt.Fscan(words, &x, &y); err != nil {
				return err
			}
			curve = append(curve, inches(x, y))
		}
		p.Lines = append(p.Lines, curve)
	}
	return err
}

// inches returns a point whose coordinates are in inches.
func inches(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x) * vg.Inch, Y: vg.Length(y) * vg.Inch}
}
