package gradcheck

import "math"

// compare compares the gradient of input i with differences.
func (k *checker) compare(in *Input, i int, g gradient) error {
	v := k.moved.variables[i]
	if k.moved.inputs[i] == nil && k.symbolic.inputs[i] == nil {
		in.Unused = true // out does not depend on the input, and no gradient reaches it
		return nil
	}
	if !g.fits(v) {
		return nil // already reported by backwardTwice
	}
	if k.Mode == OneDirection {
		a, n, err := k.alongDirection(v, g.data)
		in.judge(k.Config, []float64{a}, []float64{n}, k.AbsTol*k.scale(g.data, len(g.data)))
		return err
	}
	numeric, err := k.differences(v)
	if err != nil {
		return err
	}
	in.judge(k.Config, g.data, numeric, k.AbsTol*k.scale(numeric, 1))
	return nil
}

// differences returns the central difference of the loss for each element of v.
func (k *checker) differences(v *variable) ([]float64, error) {
	all := make([]float64, len(v.data))
	var above, below []float64
	for i, x := range v.data {
		h := k.Step * max(1, math.Abs(x))
		up, down := x+h, x-h
		var err error
		v.write(i, up)
		if above, err = k.moved.run(above); err != nil {
			return nil, err
		}
		v.write(i, down)
		if below, err = k.moved.run(below); err != nil {
			return nil, err
		}
		v.write(i, x)
		all[i] = k.lossDifference(above, below) / (up - down)
	}
	return all, nil
}

// alongDirection returns the derivative of the loss along a random direction u: analytic
// Σ g⊙u, and numeric the difference over a step t.
func (k *checker) alongDirection(v *variable, g []float64) (analytic, numeric float64, err error) {
	// The direction is about √N long, so the step is divided by √N: the truncation error stays that of a single element.
	t := k.Step / math.Sqrt(float64(len(g)))
	moved := make([]float64, len(g))
	above, below := make([]float64, 0, k.moved.size), make([]float64, 0, k.moved.size)
	for i, u := range k.draw(len(g)) {
		x := v.data[i]
		h := t * u * max(1, math.Abs(x))
		up, down := x+h, x-h
		v.write(i, up)
		moved[i] = down
		analytic += g[i] * ((up - down) / (2 * t)) // the direction after rounding
	}
	if above, err = k.moved.run(above); err != nil {
		return 0, 0, err
	}
	for i, down := range moved {
		v.write(i, down)
	}
	if below, err = k.moved.run(below); err != nil {
		return 0, 0, err
	}
	for i := range moved {
		v.restore(i)
	}
	return analytic, k.lossDifference(above, below) / (2 * t), nil
}

// lossDifference returns L(above) − L(below). It subtracts before it sums, so elements
// of out that did not move cancel exactly.
func (k *checker) lossDifference(above, below []float64) float64 {
	d := 0.0
	for i, r := range k.weights {
		d += r * (above[i] - below[i])
	}
	return d
}

// relativeError returns |a−n| / (max(|a|, |n|) + absTol/relTol). It is at most relTol
// where |a−n| <= absTol + relTol·max(|a|, |n|), and infinite if a or n is not finite.
func relativeError(a, n, absTol, relTol float64) float64 {
	if !finite(a) || !finite(n) {
		return math.Inf(1)
	}
	return math.Abs(a-n) / (max(math.Abs(a), math.Abs(n)) + absTol/relTol)
}
