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

// A Layout places boxes of given sizes, of which each is joined to those that it is computed from. Every box comes
// after those.
type Layout func(boxes []vg.Point, in [][]int) (Placed, error)

// Best is Graphviz' layout if its program dot is there and works, else Layered.
func Best(boxes []vg.Point, in [][]int) (Placed, error) {
	if p, err := Graphviz(boxes, in); err == nil {
		return p, nil
	}
	return Layered(boxes, in)
}

// graphvizTime is how long dot may take.
const graphvizTime = 20 * time.Second

// Graphviz has the program dot place the boxes.
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

// dotText returns the graph in Graphviz' language, of boxes without text.
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

// parsePlain reads dot's plain output, whose unit is the inch.
func parsePlain(printed []byte, boxes int) (Placed, error) {
	p := Placed{Centers: make([]vg.Point, boxes)}
	placed := 0
	for line := range strings.Lines(string(printed)) {
		words := strings.NewReader(line)
		var kind, from, to string
		var x, y, scale float64
		var node, points int
		fmt.Fscan(words, &kind)
		var err error
		switch kind {
		case "graph":
			_, err = fmt.Fscan(words, &scale, &x, &y)
			p.Size = inches(x, y)
		case "node":
			if _, err = fmt.Fscanf(words, " n%d %f %f", &node, &x, &y); err == nil && (node < 0 || node >= boxes) {
				err = fmt.Errorf("node %d of %d", node, boxes)
			}
			if err == nil {
				p.Centers[node] = inches(x, y)
				placed++
			}
		case "edge":
			_, err = fmt.Fscan(words, &from, &to, &points)
			var curve []vg.Point
			for range points {
				if err == nil {
					_, err = fmt.Fscan(words, &x, &y)
				}
				curve = append(curve, inches(x, y))
			}
			p.Lines = append(p.Lines, curve)
		}
		if err != nil {
			return Placed{}, fmt.Errorf("diagram: dot's line %.60q: %w", line, err)
		}
	}
	if placed != boxes {
		return Placed{}, fmt.Errorf("diagram: dot placed %d nodes, want %d", placed, boxes)
	}
	return p, nil
}

func inches(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x) * vg.Inch, Y: vg.Length(y) * vg.Inch}
}
