package layers

import "gorgonia.org/tensor"

// SetFromV2 copies the weights of a SelfAttentionV2 of the same sizes into l,
// transposed as nn.Linear stores them; both then give equal output. A v2 with
// biases is refused, since v1 has none.
func (l *SelfAttentionV1) SetFromV2(v2 *SelfAttentionV2) error {
	if v2.self.config.QKVBias {
		return errorf(l.name, "weights: got a SelfAttentionV2 with biases, want one without")
	}
	return l.pair(v2, func(v1, weight Param) error { return setTransposed(v1, weight) })
}

// SetFromV1 copies the weights of a SelfAttentionV1 of the same sizes into l,
// transposed as nn.Linear stores them, and sets biases to zero; both then give
// equal output.
func (l *SelfAttentionV2) SetFromV1(v1 *SelfAttentionV1) error {
	if err := v1.pair(l, func(v1, weight Param) error { return setTransposed(weight, v1) }); err != nil {
		return err
	}
	for _, name := range layouts[Book].biases {
		if p, ok := l.self.params[name]; ok {
			p.Value().Zero()
		}
	}
	return nil
}

// pair calls set for each weight of l and its counterpart in v2.
func (l *SelfAttentionV1) pair(v2 *SelfAttentionV2, set func(v1, weight Param) error) error {
	for i, v1 := range []Param{l.query, l.key, l.value} {
		if err := set(v1, v2.self.params[layouts[Book].weights[i]]); err != nil {
			return err
		}
	}
	return nil
}

// setTransposed sets dst to srcᵀ.
func setTransposed(dst, src Param) error {
	t, err := tensor.Transpose(src.Value())
	if err != nil {
		return errorf(src.name, "%w", err)
	}
	return dst.params.Set(dst.name, t.(*tensor.Dense))
}
