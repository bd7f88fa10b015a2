package train

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/shapes"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// cachedStep is what a step in mini-batches keeps. Such a step has three passes (Gao et al. 2021, Scaling Deep
// Contrastive Learning Batch Size under Memory Limited Setup):
//
//  1. Each mini-batch is embedded, without a backward pass.
//  2. The loss of all embeddings is computed with its gradient at them, which is cached.
//  3. Each mini-batch is embedded again, by the same dropout masks, and its part of the cached gradient goes on to the
//     parameters, where the mini-batches' gradients are added.
type cachedStep struct {
	embed, loss, backward shapes.Cache[*program] // of the three passes
	sum                   []*tensor.Dense        // of the gradients of each parameter
}

// cachedName is the name of an input of the second pass, the embeddings of all rows, and of the third pass, the
// gradient of a mini-batch's.
func cachedName(i int) string { return fmt.Sprintf("cached.%d", i) }

// split returns the rows of a batch that is split into mini-batches, or 0 for one that is not.
func (s *Step) split(v Values) (rows int, err error) {
	if s.config.MiniBatchSize == 0 {
		return 0, nil
	}
	if rows, err = rowsOf(v); err != nil {
		return 0, fmt.Errorf("batch: %w", err)
	}
	if rows <= s.config.MiniBatchSize {
		return 0, nil
	}
	return rows, nil
}

// cachedGradients leaves the gradient of the loss of some rows, more than a mini-batch, in the parameters' Grad.
func (s *Step) cachedGradients(v Values, rows int, key int64) (loss float64, err error) {
	all := maps.Clone(v) // and the embeddings of all rows
	err = s.miniBatches(v, rows, func(lo, hi int, part Values) error {
		if err := s.use(&s.cached.embed, part, s.buildEmbed); err != nil {
			return err
		}
		if _, err := s.program.run(part, s.miniBatchKey(key, lo)); err != nil {
			return err
		}
		for i, n := range s.program.embeddings {
			name := cachedName(i)
			if lo == 0 {
				all[name] = embeddingsOf(n, rows)
			}
			from, err := dense.RowMajor(n.Value())
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			dense.CopyCorner(dense.Rows(all[name], lo, hi), from)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := s.use(&s.cached.loss, all, s.buildLossOfEmbeddings); err != nil {
		return 0, err
	}
	if loss, err = s.program.run(all, s.miniBatchKey(key, rows+s.config.MiniBatchSize)); err != nil {
		return 0, err
	}
	all = maps.Clone(v) // and the gradient at the embeddings
	for i, n := range s.program.grads {
		if all[cachedName(i)], err = dense.Copy(n.Value()); err != nil {
			return 0, fmt.Errorf("gradient of %s: %w", cachedName(i), err)
		}
	}
	return loss, s.miniBatches(all, rows, func(lo, hi int, part Values) error {
		if err := s.use(&s.cached.backward, part, s.buildBackward); err != nil {
			return err
		}
		if _, err := s.program.run(part, s.miniBatchKey(key, lo)); err != nil {
			return err
		}
		return s.addGradients(lo == 0, hi == rows)
	})
}

// miniBatches calls f with the rows of each mini-batch, from lo to hi−1.
func (s *Step) miniBatches(v Values, rows int, f func(lo, hi int, part Values) error) error {
	for lo := 0; lo < rows; lo += s.config.MiniBatchSize {
		hi := min(lo+s.config.MiniBatchSize, rows)
		if err := f(lo, hi, someRows(v, lo, hi)); err != nil {
			return fmt.Errorf("mini-batch of rows %d to %d: %w", lo, hi-1, err)
		}
	}
	return nil
}

// someRows returns the rows from lo to hi−1 of values, in their memory.
func someRows(v Values, lo, hi int) Values {
	part := Values{}
	for name, d := range v {
		part[name] = dense.Rows(d, lo, hi)
	}
	return part
}

// miniBatchKey returns the key of the dropout masks of the mini-batch that begins at a row, in a batch with a key. Keys
// of batches of a run differ in their lower 32 bits.
func (s *Step) miniBatchKey(key int64, row int) int64 {
	return key + int64(row/s.config.MiniBatchSize)<<32
}

// addGradients adds the gradients of a mini-batch to those of the ones before it. After the last one they are in the
// parameters' Grad.
func (s *Step) addGradients(first, last bool) error {
	if err := s.program.readGradients(s.params, s.copies); err != nil {
		return err
	}
	if err := checkGradients(s.params); err != nil { // now that the graph holds the rows that a NaN comes from
		return withOrigin(s.program.machine, err)
	}
	for i, p := range s.params {
		if len(s.cached.sum) == i {
			s.cached.sum = append(s.cached.sum, newLike(p.Value))
		}
		switch sum := s.cached.sum[i]; {
		case first:
			scaleTensor(sum, p.Grad, 1) // a copy
		case last:
			dense.ByType(sum.Dtype(), add[float32], add[float64])(p.Grad, sum)
		default:
			dense.ByType(sum.Dtype(), add[float32], add[float64])(sum, p.Grad)
		}
	}
	return nil
}

// prepareCached builds the graphs of the first mini-batch and of the loss.
func (s *Step) prepareCached(v Values, rows int) error {
	all, part := maps.Clone(v), someRows(v, 0, s.config.MiniBatchSize)
	if err := s.use(&s.cached.embed, part, s.buildEmbed); err != nil {
		return err
	}
	for i, n := range s.program.embeddings {
		all[cachedName(i)] = embeddingsOf(n, rows)
		part[cachedName(i)] = embeddingsOf(n, s.config.MiniBatchSize)
	}
	if err := s.use(&s.cached.backward, part, s.buildBackward); err != nil {
		return err
	}
	return s.use(&s.cached.loss, all, s.buildLossOfEmbeddings)
}

// embeddingsOf returns a tensor like the embeddings of a node, with another number of rows.
func embeddingsOf(n *G.Node, rows int) *tensor.Dense {
	return tensor.New(tensor.Of(n.Dtype()), tensor.WithShape(append(tensor.Shape{rows}, n.Shape()[1:]...)...))
}

// buildEmbed returns the program of the first pass.
func (s *Step) buildEmbed(b *layers.Build, in layers.Inputs) (*program, error) {
	pr := &program{inputs: b.Inputs()}
	rows := 0
	for _, n := range in {
		rows = n.Shape()[0]
	}
	b.OnCached(func(x *G.Node) (*G.Node, error) {
		if shape := x.Shape(); len(shape) == 0 || shape[0] != rows || x.Dtype() != s.all.Dtype() {
			return nil, fmt.Errorf("Build.Cached: got %v %v, want %v (%d, …), a row for each of the batch", x.Dtype(), shape,
				s.all.Dtype(), rows)
		}
		if name := cachedName(len(pr.embeddings)); in[name] != nil {
			return nil, fmt.Errorf("input %q: got a value, want none: it is the name of marked embeddings", name)
		}
		pr.embeddings = append(pr.embeddings, x)
		return x, nil
	})
	s.formula(b, in)
	if err := b.Err(); err != nil {
		return nil, err
	}
	if len(pr.embeddings) == 0 {
		return nil, errors.New("loss: has no embeddings that Build.Cached marks, want some for MiniBatchSize")
	}
	pr.dropoutKey = b.DropoutKey()
	var err error
	pr.machine, err = s.arena.New(pr.embeddings...)
	return pr, err
}

// buildLossOfEmbeddings returns the program of the second pass. in has the embeddings.
func (s *Step) buildLossOfEmbeddings(b *layers.Build, in layers.Inputs) (*program, error) {
	pr := &program{inputs: b.Inputs()}
	b.OnCached(func(*G.Node) (*G.Node, error) {
		n := in[cachedName(len(pr.embeddings))]
		pr.embeddings = append(pr.embeddings, n)
		return n, nil
	})
	if out := s.formula(b, in); len(out) > 0 {
		pr.loss = out[0]
	}
	if err := checkLoss(b, pr.loss); err != nil {
		return nil, err
	}
	reached := pr.reached(b)
	for _, n := range slices.Concat(pr.embeddings, b.Learnables()) {
		if _, isInput := pr.inputs[n.Name()]; isInput != reached[n] {
			const wrong = "loss: %s: want a loss that depends on the marked embeddings, and on parameters by them alone"
			return nil, fmt.Errorf(wrong, n.Name())
		}
	}
	var err error
	if pr.grads, err = G.Grad(pr.loss, pr.embeddings...); err != nil {
		return nil, fmt.Errorf("gradient of the loss: %w", err)
	}
	pr.dropoutKey = b.DropoutKey()
	pr.machine, err = s.arena.New(append(G.Nodes{pr.loss}, pr.grads...)...)
	return pr, err
}

// buildBackward returns the program of the third pass: that of the sum of the embeddings times their gradients, which
// are in in.
func (s *Step) buildBackward(b *layers.Build, in layers.Inputs) (*program, error) {
	var loss *G.Node
	i := 0
	b.OnCached(func(x *G.Node) (*G.Node, error) {
		product := b.Of(graph.Sum(b.Of(graph.Mul(x, in[cachedName(i)])), graph.ReduceConfig{}))
		if i++; loss != nil {
			product = b.Of(graph.Add(loss, product))
		}
		loss = product
		return x, nil
	})
	s.formula(b, in)
	return s.buildLoss(b, loss)
}
