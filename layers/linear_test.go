package layers_test

import (
	"fmt"
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Sizes that make no layer are errors of the constructor.
func TestWrongSizesAreRefused(t *testing.T) {
	for _, c := range []struct {
		config  any
		wantErr string
	}{
		{config: layers.LinearConfig{In: 0, Out: 1}, wantErr: "Linear: In: got 0, want at least 1"},
		{config: layers.LinearConfig{In: 1, Out: -1}, wantErr: "Linear: Out: got -1, want at least 1"},
		{config: layers.AdditiveAttentionConfig{QueryDim: 1, KeyDim: 1},
			wantErr: "AdditiveAttention: AttnDim: got 0, want at least 1"},
		{config: layers.AdditiveAttentionConfig{QueryDim: 1, KeyDim: 1 << 30, AttnDim: 2},
			wantErr: "AdditiveAttention: KeyDim: got 1073741824 for AttnDim=2, want at most 2147483647 elements in a weight"},
	} {
		require.EqualError(t, construct(c.config), "layers: "+c.wantErr)
	}
}

// construct makes the layer of a config and checks that a wrong one leaves nothing behind.
func construct(config any) (err error) {
	p := layers.NewParams(tensor.Float32, 1)
	s := p.Scope("")
	switch c := config.(type) {
	case layers.LinearConfig:
		_, err = layers.NewLinear(s, c)
	case layers.AdditiveAttentionConfig:
		_, err = layers.NewAdditiveAttention(s, c)
	}
	if p.Len() != 0 {
		return fmt.Errorf("%d parameters were made", p.Len())
	}
	return err
}
