package torchrand

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// After any calls, a generator set to another's state draws the same values.
func TestStateResumesExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := New(rapid.Uint64().Draw(t, "seed"))
		steps := rapid.SliceOfN(rapid.SampledFrom([]func(*Generator){
			func(g *Generator) { g.Uint32() },
			func(g *Generator) { Normal(g, make([]float32, 1), 0, 1) },
			func(g *Generator) { Normal(g, make([]float64, 37), 0, 1) },
			func(g *Generator) { Uniform(g, make([]float32, 623), 0, 1) },
			func(g *Generator) { KeepMask(g, make([]float32, 3), 0.5) },
		}), 0, 8).Draw(t, "steps")
		for _, step := range steps {
			step(g)
		}
		text, err := json.Marshal(g.State())
		require.NoError(t, err)
		var s State
		require.NoError(t, json.Unmarshal(text, &s))
		h := New(999)
		require.NoError(t, h.SetState(s))
		require.Equal(t, g, h)

		a, b := make([]float64, 3), make([]float64, 3)
		Normal(g, a, 0, 1)
		Normal(h, b, 0, 1)
		require.Equal(t, a, b)
		require.Equal(t, g.State(), h.State())
	})
}

func TestStateIsACopy(t *testing.T) {
	g := New(1)
	s := g.State()
	want := New(1).Uint64()
	h := New(2)
	require.NoError(t, h.SetState(s))
	clear(s)
	assert.Equal(t, want, g.Uint64())
	assert.Equal(t, want, h.Uint64())
}

func TestSetStateRejects(t *testing.T) {
	put32 := func(at int, v uint32) func(State) State {
		return func(s State) State { binary.LittleEndian.PutUint32(s[at:], v); return s }
	}
	put64 := func(at int, v uint64) func(State) State {
		return func(s State) State { binary.LittleEndian.PutUint64(s[at:], v); return s }
	}
	normal := func(x float64) func(State) State { return put64(atNormal, math.Float64bits(x)) }
	rows := []struct {
		name  string
		spoil func(State) State
		want  string
	}{
		{name: "nothing", spoil: func(State) State { return nil }, want: "got 0 bytes, want 5056"},
		{name: "short", spoil: func(s State) State { return s[:5055] }, want: "got 5055 bytes, want 5056"},
		{name: "long", spoil: func(s State) State { return append(s, 0) }, want: "got 5057 bytes, want 5056"},
		{name: "zeros", spoil: func(s State) State { clear(s); return s }, want: "got next 0 and left 0"},
		{name: "left beyond the words", spoil: put32(atLeft, 625), want: "got next 3 and left 625"},
		{name: "left negative", spoil: put32(atLeft, math.MaxUint32), want: "left 4294967295"},
		{name: "left and next apart", spoil: put32(atLeft, 621), want: "got next 3 and left 621"},
		{name: "next beyond the words", spoil: put64(atNext, 625), want: "got next 625 and left 622"},
		{name: "next beyond the words, none left",
			spoil: func(s State) State { return put64(atNext, 625)(put32(atLeft, 0)(s)) },
			want:  "got next 625 and left 0"},
		{name: "more left than words", spoil: func(s State) State { return put64(atNext, 0)(put32(atLeft, 625)(s)) },
			want: "got next 0 and left 625"},
		{name: "next that wraps round", spoil: put64(atNext, 1<<63+3), want: "got next 9223372036854775811"},
		{name: "next that hides in the high half", spoil: put64(atNext, 1<<32+3), want: "got next 4294967299"},
		{name: "not seeded", spoil: put32(atSeeded, 0), want: "byte 12: got 0x00, want 0x01"},
		{name: "words of zeros", spoil: func(s State) State { clear(s[atWords:atNormal]); return s }, want: "got zeros only"},
		{name: "word above 32 bits", spoil: put32(atWords+8*5+4, 1), want: "byte 68: got 0x01, want 0x00"},
		{name: "normal NaN", spoil: normal(math.NaN()), want: "waiting normal value: got NaN"},
		{name: "normal infinite", spoil: normal(math.Inf(-1)), want: "waiting normal value: got -Inf"},
		{name: "normal too large", spoil: normal(9), want: "waiting normal value: got 9"},
		{name: "normal that nobody waits for", spoil: put32(atNormalValid, 0), want: "byte 5024"},
		{name: "normal valid twice", spoil: put32(atNormalValid, 2), want: "byte 5040: got 0x02, want 0x01"},
		{name: "normal_x", spoil: put64(5016, 1), want: "byte 5016"},
		{name: "float32 normal value", spoil: put32(5052, 1), want: "byte 5052"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			g := New(1)
			Normal(g, make([]float32, 1), 0, 1) // leaves a value waiting
			g.words[0] |= 1
			g.next, g.left = 3, 622
			good := g.State()
			require.NoError(t, New(2).SetState(good))

			h := New(77)
			before := h.State()
			err := h.SetState(row.spoil(g.State()))
			require.ErrorContains(t, err, "torchrand: state: ")
			assert.ErrorContains(t, err, row.want)
			assert.Equal(t, before, h.State(), "an error leaves the generator as it was")
		})
	}
}

// State returns any state that SetState accepts, and the generator can draw.
func FuzzSetState(f *testing.F) {
	g := New(123)
	f.Add([]byte(g.State()))
	Normal(g, make([]float64, 3), 0, 1)
	f.Add([]byte(g.State()))
	f.Add([]byte{})
	f.Add(make([]byte, stateLen))
	f.Fuzz(func(t *testing.T, s []byte) {
		g := New(1)
		if g.SetState(s) != nil {
			return
		}
		if got := g.State(); string(got) != string(s) {
			t.Fatalf("accepted a state that State does not return")
		}
		Normal(g, make([]float64, 3), 0, 1)
		Uniform(g, make([]float32, 1300), 0, 1)
	})
}
