package machine

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"
)

// checkLogarithms refuses a graph in which logarithms of a softmax are read as probabilities. gorgonia.Log of a
// SoftMax, or of a product with one, turns that SoftMax node itself into logarithms, for all its readers. Three readers
// have no meaning for logarithms: 1 − x and log1p, as in cross entropies; a root; and a product of x with itself or
// with a sum that has x as a term, as in entropies. For any other reader, such as a product with another node or
// gorgonia.Read, the graph does not show whether it expects probabilities or logarithms.
func checkLogarithms(g *G.ExprGraph) error {
	all := g.AllNodes()
	if !slices.ContainsFunc(all, isLogSoftMax) {
		return nil
	}
	exact := g.ExactSubgraphRoots(all...)
	for _, n := range all {
		if isGradient(n) {
			continue
		}
		if logs := readAsProbabilities(exact, n); logs != nil {
			return fmt.Errorf("machine: %v: got logarithms, which gorgonia.Log made of %v for all readers, "+
				"want probabilities: take graph.Softmax (for a square of logarithms, gorgonia.Square)", n, logs)
		}
	}
	return nil
}

// readAsProbabilities returns the softmax whose logarithms n reads as probabilities, or nil.
func readAsProbabilities(g *G.ExprGraph, n *G.Node) *G.Node {
	in := children(g, n)
	for i, child := range in {
		logs := withoutSign(g, child)
		if !isLogSoftMax(logs) {
			continue
		}
		wrong := false
		switch elementwise(n) {
		case "log1p", "sqrt", "invSqrt":
			wrong = true
		case "-":
			wrong = i == 1 && isConstant(in[0]) && fmt.Sprint(in[0].Value()) == "1"
		case "⊙":
			wrong = hasTerm(g, in[1-i], logs, map[*G.Node]bool{})
		}
		if wrong {
			return logs
		}
	}
	return nil
}

// hasTerm reports whether n is x, or a sum or a difference with x among its terms. seen are sums without x.
func hasTerm(g *G.ExprGraph, n, x *G.Node, seen map[*G.Node]bool) bool {
	n = withoutSign(g, n)
	if op := elementwise(n); n == x || seen[n] || op != "+" && op != "-" {
		return n == x
	}
	seen[n] = true
	return slices.ContainsFunc(children(g, n), func(term *G.Node) bool { return hasTerm(g, term, x, seen) })
}

// withoutSign returns x for the node −x, and any other node itself.
func withoutSign(g *G.ExprGraph, n *G.Node) *G.Node {
	for elementwise(n) == "neg" {
		n = children(g, n)[0]
	}
	return n
}

// elementwise returns the name of one of Gorgonia's ops on elements, or "" for another op.
func elementwise(n *G.Node) string {
	switch fmt.Sprintf("%T", n.Op()) {
	case "gorgonia.elemBinOp", "gorgonia.elemUnaryOp":
		name, _, _ := strings.Cut(n.Op().String(), " ")
		return name
	}
	return ""
}

// isLogSoftMax reports whether a node is a SoftMax that returns logarithms.
func isLogSoftMax(n *G.Node) bool {
	return fmt.Sprintf("%T", n.Op()) == "*gorgonia.softmaxOp" && reflect.ValueOf(n.Op()).Elem().FieldByName("isLog").Bool()
}
