package train

import (
	"fmt"
	"math"
)

// ClipNorm returns the Euclidean norm of the gradients of all parameters as one
// vector, summed in float64, and scales the gradients in place by
// limit/(norm + 1e-6) if that is less than 1, as torch.nn.utils.clip_grad_norm_
// does. A limit of 0 means no clipping. Two parameters may share one gradient
// tensor, as the terms of a sum do: each counts in the norm, the tensor is scaled once.
//
// A nil gradient or one that is not contiguous float32 or float64 is an error. The
// error for a norm that is not finite wraps ErrNotFinite. Both name the parameter,
// and no gradient is changed.
func ClipNorm(params []Param, limit float64) (float64, error) {
	if err := checkNonNegative("gradient norm limit", limit); err != nil {
		return 0, err
	}
	for _, p := range params {
		if err := checkDense("gradient of "+p.Name, p.Grad); err != nil {
			return 0, err
		}
	}
	norm, err := gradientNorm(params)
	if err != nil {
		return norm, fmt.Errorf("train: %w", err)
	}
	clipGradients(params, norm, limit)
	return norm, nil
}

// gradientNorm returns the norm of all gradients as one vector.
func gradientNorm(params []Param) (float64, error) {
	total := 0.0
	for _, p := range params {
		total += sumSquares(p.Grad, wholeOf(p.Grad))
		if math.IsNaN(total) || math.IsInf(total, 0) {
			return math.Sqrt(total), notFiniteNorm(p.Name, math.Sqrt(total))
		}
	}
	return math.Sqrt(total), nil
}

// notFiniteNorm is the error of a gradient's norm.
func notFiniteNorm(name string, norm float64) error {
	return fmt.Errorf("gradient of %s: got a norm of %v, which is %w", name, norm, ErrNotFinite)
}

// clipGradients scales gradients of this norm down to limit; 0 means none.
func clipGradients(params []Param, norm, limit float64) {
	c := limit / (norm + 1e-6)
	if limit == 0 || c >= 1 {
		return
	}
	scaled := make(map[uintptr]bool, len(params))
	for _, p := range params {
		at := p.Grad.Uintptr()
		if scaled[at] {
			continue
		}
		scaled[at] = true
		scaleTensor(p.Grad, p.Grad, c)
	}
}
