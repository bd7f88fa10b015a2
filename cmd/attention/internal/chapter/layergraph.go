package chapter

import (
	"fmt"
	"slices"
	"strings"

	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
)

// layerGraph returns the expression graph of a section's layer on its tokens, one op for each step of attention, as text
// of Mermaid.
func layerGraph(s chapter.Section) (string, error) {
	b, out, err := s.Graph()
	if err != nil {
		return "", err
	}
	title := fmt.Sprintf("%d. The expression graph of %s (orange: learnt, green: input, blue: op)", s.Number, s.Layer().Layer)
	return mermaid(title, out, b.Learnables()), nil
}

// mermaid returns the graph before a node: a line for each node, after the lines of its inputs, and a line for the
// arrows to it.
func mermaid(title string, out *G.Node, learnables G.Nodes) string {
	var text strings.Builder
	fmt.Fprintf(&text, "---\ntitle: %q\n---\nflowchart TD\n", title)
	names := map[int64]string{}
	var visit func(n *G.Node) string
	visit = func(n *G.Node) string {
		if name, ok := names[n.ID()]; ok {
			return name
		}
		var in []string
		for it := n.Graph().From(n.ID()); it != nil && it.Next(); {
			if name := visit(it.Node().(*G.Node)); !slices.Contains(in, name) {
				in = append(in, name)
			}
		}
		kind, label := "input", n.Name()
		if slices.Contains(learnables, n) {
			kind = "learnt"
		} else if of := n.Op(); of != nil {
			kind, label = "op", of.String()
		}
		name := fmt.Sprintf("n%d", len(names))
		names[n.ID()] = name
		fmt.Fprintf(&text, "    %s[\"%s<br>%v\"]:::%s\n", name, strings.ReplaceAll(label, `"`, "#quot;"), n.Shape(), kind)
		if len(in) > 0 {
			fmt.Fprintf(&text, "    %s --> %s\n", strings.Join(in, " & "), name)
		}
		return name
	}
	visit(out)
	for _, class := range []string{"learnt fill:#fdc67d", "input fill:#d3ecd0", "op fill:#e3eef9"} {
		fmt.Fprintf(&text, "    classDef %s,stroke:#707070,color:#000\n", class)
	}
	return text.String()
}
