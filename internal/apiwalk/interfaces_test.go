package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/train"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// closed lists the interfaces that only the module's own types implement. Code distinguishes these types, and a check
// refuses a pointer to one of them.
var closed = map[reflect.Type]func(t *testing.T, x any) error{
	reflect.TypeFor[mask.Mask](): func(_ *testing.T, x any) error { return mask.Validate(x.(mask.Mask)) },
	reflect.TypeFor[graph.ScoreMod](): func(t *testing.T, x any) error {
		g := G.NewGraph()
		q := G.NewTensor(g, tensor.Float64, 2, G.WithName("q"), G.WithValue(golden.Numbers(tensor.Float64, 2, 3)))
		c := graph.AttentionConfig{Score: x.(graph.ScoreMod)}
		_, _, err := graph.Attention(q, q, q, c)
		_, fused := graph.FusedAttention(graph.FusedInputs{Query: q, Key: q, Value: q}, c)
		require.Error(t, fused)
		return err
	},
}

// open lists the interfaces that callers may implement, also by pointers: code only calls their methods.
var open = strings.Fields(`layers.AttentionCache parallel.Transport text.Tokenizer train.Group train.Schedule`)

// A field of a closed interface type, such as a mask or a change of scores, must be a value: a pointer must not pass
// the checks and then be ignored.
func TestFieldsOfInterfaceTypes(t *testing.T) {
	seen := map[string]bool{}
	for _, in := range exportedTypes {
		for i := range fieldsOf(in) {
			f := in.Field(i)
			of := f.Type
			if of.Kind() == reflect.Slice {
				of = of.Elem()
			}
			if !f.IsExported() || of.Kind() != reflect.Interface || !strings.HasPrefix(of.PkgPath(), "attention/") {
				continue
			}
			seen[of.String()] = true
			if _, ok := closed[of]; !ok {
				require.Contains(t, open, of.String(), "%v.%s: is the interface open or closed?", in, f.Name)
			}
		}
	}
	for _, name := range open {
		require.True(t, seen[name], "%s is the type of no field", name)
	}
	for of, check := range closed {
		require.True(t, seen[of.String()], "%v is the type of no field", of)
		for _, x := range exportedTypes {
			if x.Kind() == reflect.Interface || !x.Implements(of) {
				continue
			}
			for _, p := range []any{reflect.New(x).Interface(), reflect.Zero(reflect.PointerTo(x)).Interface()} {
				require.ErrorContains(t, check(t, p), "got *"+x.String()+", want "+x.String(), "%v", x)
			}
		}
	}
	require.ErrorContains(t, mask.Validate(mask.And(mask.Causal{}, mask.Not(&mask.Prefix{N: 1}))), "want mask.Prefix")
}

func fieldsOf(t reflect.Type) int {
	if t.Kind() != reflect.Struct {
		return 0
	}
	return t.NumField()
}

// Only a schedule's methods are used, so a pointer to it works, too.
func TestSchedulesByPointer(t *testing.T) {
	cosine, wsd := train.CosineLR{Peak: 1, Steps: 9}, train.WSD{Peak: 1}
	for _, c := range []struct{ pointer, value train.Schedule }{{&cosine, cosine}, {&wsd, wsd}} {
		require.Equal(t, c.value.At(3), train.ScheduleConfig{Schedule: c.pointer}.At(3))
		want, err := json.Marshal(train.ScheduleConfig{Schedule: c.value})
		require.NoError(t, err)
		got, err := json.Marshal(train.ScheduleConfig{Schedule: c.pointer})
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
}
