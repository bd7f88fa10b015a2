package stock

import (
	"math"
	"reflect"
	"unsafe"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// normed is a tensor (batch, channels, inner) whose channels are normalised, with the settings and statistics of its
// op. Unlike Gorgonia's own gradient, ours does not rely on what the last forward pass left in the op.
type normed[F kernel.Float] struct {
	batch, channels, inner int
	momentum, epsilon      float64
	training               *bool // set by SetTraining
	mean, variance         []F   // running
}

// normedOf reads the settings of an op for batch normalisation of x.
func normedOf[F kernel.Float](op *G.BatchNormOp, x *G.Node) *normed[F] {
	v := reflect.ValueOf(op).Elem()
	momentum, epsilon, training := v.FieldByName("momentum"), v.FieldByName("epsilon"), v.FieldByName("training")
	mean, variance := op.Stats()
	shape := x.Shape()
	if len(shape) < 2 || shape.TotalSize() == 0 || mean.Dtype() != x.Dtype() || mean.Shape().TotalSize() != shape[1] ||
		!momentum.CanFloat() || !epsilon.CanFloat() || training.Kind() != reflect.Bool {
		return nil
	}
	return &normed[F]{
		batch: shape[0], channels: shape[1], inner: tensor.Shape(shape[2:]).TotalSize(),
		momentum: momentum.Float(), epsilon: epsilon.Float(),
		training: (*bool)(unsafe.Pointer(training.UnsafeAddr())),
		mean:     dense.Floats[F](mean), variance: dense.Floats[F](variance),
	}
}

// batchNorm returns the op (x − mean)/√(variance + ε) of each channel. In training, mean and variance are those of the
// channel, and the op updates the running mean and variance. Otherwise they are the running mean and variance.
func batchNorm[F kernel.Float](c call) *Op {
	op, ok := c.node.Op().(*G.BatchNormOp)
	if !ok {
		return nil
	}
	n := normedOf[F](op, c.in[0])
	if n == nil {
		return nil
	}
	return loops(nil, n.channels, n.grain(), func(y []F, x [][]F, lo, hi int) {
		for channel := lo; channel < hi; channel++ {
			n.forward(y, x[0], channel)
		}
	})
}

// batchNormGradient returns the op of the gradient for x, from x and the gradient of the result.
func batchNormGradient[F kernel.Float](c call) *Op {
	f := reflect.Indirect(reflect.ValueOf(c.node.Op())).FieldByName("BatchNormOp")
	if !f.IsValid() || !f.CanInterface() {
		return nil
	}
	op, ok := f.Interface().(*G.BatchNormOp)
	if !ok {
		return nil
	}
	n := normedOf[F](op, c.in[0])
	if n == nil {
		return nil
	}
	return loops([]int{0, 1}, n.channels, n.grain(), func(dx []F, in [][]F, lo, hi int) {
		for channel := lo; channel < hi; channel++ {
			n.backward(dx, in[0], in[1], channel)
		}
	})
}

// grain returns the number of channels worth a goroutine.
func (n *normed[F]) grain() int { return 1 + loopGrain/(n.batch*n.inner) }

// row returns the elements of a channel in one of the batch.
func (n *normed[F]) row(of []F, one, channel int) []F {
	return of[(one*n.channels+channel)*n.inner:][:n.inner]
}

// moments returns the mean and the variance of a channel, and the number of its elements.
func (n *normed[F]) moments(all []F, channel int) (mean, variance, count float64) {
	count = float64(n.batch * n.inner)
	for one := range n.batch {
		for _, v := range n.row(all, one, channel) {
			mean += float64(v)
		}
	}
	mean /= count
	for one := range n.batch {
		for _, v := range n.row(all, one, channel) {
			variance += (float64(v) - mean) * (float64(v) - mean)
		}
	}
	return mean, variance / count, count
}

func (n *normed[F]) forward(all, x []F, channel int) {
	mean, variance := float64(n.mean[channel]), float64(n.variance[channel])
	if *n.training {
		m, v, count := n.moments(x, channel)
		n.mean[channel] = F(n.momentum*m + (1-n.momentum)*mean)
		n.variance[channel] = F(n.momentum*v*count/(count-1) + (1-n.momentum)*variance)
		mean, variance = m, v
	}
	scale := 1 / math.Sqrt(variance+n.epsilon)
	for one := range n.batch {
		y := n.row(all, one, channel)
		for i, v := range n.row(x, one, channel) {
			y[i] = F((float64(v) - mean) * scale)
		}
	}
}

// backward writes the gradient for x to gradient. up is the gradient for the result.
func (n *normed[F]) backward(gradient, all, up []F, channel int) {
	if !*n.training {
		scale := 1 / math.Sqrt(float64(n.variance[channel])+n.epsilon)
		for one := range n.batch {
			dx := n.row(gradient, one, channel)
			for i, v := range n.row(up, one, channel) {
				dx[i] = F(float64(v) * scale)
			}
		}
		return
	}
	mean, variance, count := n.moments(all, channel)
	sum, dot := 0.0, 0.0
	for one := range n.batch {
		x := n.row(all, one, channel)
		for i, v := range n.row(up, one, channel) {
			sum += float64(v)
			dot += float64(v) * (float64(x[i]) - mean)
		}
	}
	scale := 1 / math.Sqrt(variance+n.epsilon)
	sum, dot = sum/count, dot*scale*scale/count
	for one := range n.batch {
		x, dx := n.row(all, one, channel), n.row(gradient, one, channel)
		for i, v := range n.row(up, one, channel) {
			dx[i] = F((float64(v) - sum - (float64(x[i])-mean)*dot) * scale)
		}
	}
}
