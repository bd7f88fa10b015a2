package layers

import G "gorgonia.org/gorgonia"

// Cached is Of for embeddings x that have a row, their first axis, for each row of the batch. It marks them for a step
// with train.StepConfig.MiniBatchSize, which computes them in mini-batches and caches the gradient of the loss at x.
// Everywhere else it changes nothing. The loss may depend on parameters by marked nodes alone.
func (b *Build) Cached(x *G.Node, err error) *G.Node {
	x = b.Of(x, err)
	if b.onCached == nil || b.Err() != nil {
		return x
	}
	return b.Of(b.onCached(x))
}

// OnCached makes Cached return the node that f returns for its own, in the order of the calls. Package train uses it.
func (b *Build) OnCached(f func(x *G.Node) (*G.Node, error)) { b.onCached = f }
