// Package gradcheck checks the symbolic gradients of any Gorgonia graph, of stock ops,
// custom ops and whole models, against central differences.
//
//	report, err := gradcheck.Check(out, G.Nodes{x, w}, gradcheck.Config{})
//	if err == nil {
//		err = report.Err()
//	}
//
// It checks the gradient of the loss L = Σ r⊙out. The weights r are random, of either sign and of size between 0.5 and
// 0.9. A plain sum would accept gradients that are wrong for any other loss: the gradient of a sum of softmax weights
// is zero, whatever the op's backward does. The weights enter the backward pass as an explicit upstream gradient, also
// when out is a scalar.
//
// For every element of every input it compares the analytic gradient a with
//
//	n = (L(x+h) − L(x−h)) / 2h
//
// computed in float64. A check passes if all of this holds:
//
//   - |a−n| <= AbsTol + RelTol·max(|a|, |n|), and both are finite;
//   - the gradient has the input's shape;
//   - the backward pass, run twice, gives the same bits;
//   - an upstream gradient of zeros gives gradients that are exactly zero.
//
// A float32 graph is too coarse for differences. CheckTwin compares its gradient with
// the differences of the same graph in float64.
//
// Check works on a copy of the graph, which it runs on attention/graph/machine. It adds
// no node to the caller's graph, differentiates none of its nodes and writes none of its
// values. A graph can be checked any number of times, before or after gorgonia.Grad, and
// then be used. Only an op that keeps state outside the graph sees the runs.
//
// Differences fail where a function is not smooth: at a kink within a step of the input, for example max(x, 0) near 0,
// a right gradient can fail. Choose other input values then.
package gradcheck
