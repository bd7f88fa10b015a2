package layers

import (
	"reflect"
	"strings"
	"testing"

	"attention/graph/mask"

	"github.com/stretchr/testify/require"
)

// The settings that the default attention to a memory copies from the attention of a sequence to itself, for every
// field: a new field must be added to one of the lists.
func TestDefaultCrossTakesStatedFields(t *testing.T) {
	taken := strings.Fields(`EmbedDim KDim VDim OutDim NumHeads NumKVHeads HeadDim ValueDim QKVBias OutBias ContextOnly
		Layout OutStd Scale Softcap QKNorm QKNormEps QKNormWhole QKNormOffset Sinks Gate Dropout ContextDropout OutDropout`)
	left := strings.Fields(`ContextLength Mask Align Sparse Score ScoreGraph RoPE ALiBi RelativeBias Forget Latent Differential
		Sigmoid SigmoidBias AddBiasKV AddZeroAttn`)
	var c AttentionConfig
	fields, names := reflect.ValueOf(&c).Elem(), []string{}
	for i := range fields.NumField() {
		names = append(names, fields.Type().Field(i).Name)
		setField(t, fields.Field(i))
	}
	require.ElementsMatch(t, names, append(taken, left...), "a field of AttentionConfig is on no list, or on two")
	cross := reflect.ValueOf(DecoderBlockConfig{Block: BlockConfig{Attention: c}}.resolved().Cross)
	for _, name := range taken {
		require.Equal(t, fields.FieldByName(name).Interface(), cross.FieldByName(name).Interface(), name)
	}
	for _, name := range left {
		require.Zero(t, cross.FieldByName(name).Interface(), name)
	}
}

// setField gives a field of a config a value that is not zero.
func setField(t *testing.T, f reflect.Value) {
	t.Helper()
	switch f.Kind() {
	case reflect.Int:
		f.SetInt(7)
	case reflect.Float64:
		f.SetFloat(0.5)
	case reflect.Bool:
		f.SetBool(true)
	case reflect.String:
		f.SetString("any")
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
	case reflect.Interface:
		f.Set(reflect.ValueOf(mask.Causal{Align: mask.LowerRight}))
	}
	require.False(t, f.IsZero(), "no value for a %v", f.Type())
}
