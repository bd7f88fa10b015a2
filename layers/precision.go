package layers

import "attention/graph"

// SetPrecision makes the layers that are called afterwards multiply in a precision: their Linear maps, the products of
// attention, the output layer of a GPT and the gradients of all these. Weights and everything else stay float32;
// README.md has a table. BFloat16 is an error of the build if the parameters are float64, or if the processor gains
// too little by it; see graph.Precision.Check.
func (b *Build) SetPrecision(p graph.Precision) {
	if err := p.Check(b.params.Dtype()); err != nil {
		b.Of(nil, err)
		return
	}
	b.precision = p
}

// Precision returns the precision of the layers that are called next.
func (b *Build) Precision() graph.Precision { return b.precision }
