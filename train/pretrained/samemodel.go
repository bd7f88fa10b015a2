package pretrained

import (
	"encoding/json"
	"reflect"

	"attention/graph/mask"
	"attention/layers"
)

// sameModel reports whether the models of two configs compute the same from the same weights, ignoring dropout.
func sameModel(a, b layers.DecoderConfig) bool {
	if a.NumLayers != b.NumLayers || len(a.Blocks) == 0 || len(b.Blocks) == 0 {
		return false
	}
	a, b = forInference(a), forInference(b)
	equal := map[[2]int]bool{}
	for i := range a.NumLayers {
		pair := [2]int{kindAt(a, i), kindAt(b, i)}
		if _, compared := equal[pair]; !compared {
			equal[pair] = reflect.DeepEqual(a.Blocks[pair[0]], b.Blocks[pair[1]])
		}
		if !equal[pair] {
			return false
		}
	}
	a.Blocks, a.Pattern, b.Blocks, b.Pattern = nil, nil, nil, nil
	return reflect.DeepEqual(a, b)
}

// kindAt returns the index of a layer's kind.
func kindAt(c layers.DecoderConfig, layer int) int {
	if len(c.Pattern) == 0 {
		return 0
	}
	return c.Pattern[layer%len(c.Pattern)]
}

// forInference returns a resolved config without the fields that only training uses.
func forInference(c layers.DecoderConfig) layers.DecoderConfig {
	c = c.Resolved()
	for i := range c.Blocks {
		b := &c.Blocks[i]
		a := &b.Attention
		a.Mask = plainMask(a.Mask)
		a.Dropout, a.OutDropout, a.ContextDropout, a.OutStd, a.ContextLength = 0, 0, 0, 0, 0
		b.MLP.Dropout, b.MLP.HiddenDropout, b.MLP.OutStd, b.MLP.Layout = 0, 0, 0, ""
	}
	c.Initializer, c.EmbeddingDropout = "", 0
	return c
}

// plainMask returns the mask of a causal window in one form. A causal mask joined with a sliding window gets the same
// form.
func plainMask(m mask.Mask) mask.Mask {
	if m == nil {
		return mask.Causal{}
	}
	var form struct{ Of []struct{ Left int } }
	if text, err := json.Marshal(m); err == nil && json.Unmarshal(text, &form) == nil && len(form.Of) == 2 {
		w := mask.SlidingWindow{Left: form.Of[1].Left}
		if mask.Equal(m, mask.And(mask.Causal{}, w)) {
			return w
		}
	}
	return m
}
