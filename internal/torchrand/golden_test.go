package torchrand_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"attention/internal/torchrand"
)

// golden is testdata/torchrand/torchrand.json; make.py beside it describes each field.
type golden struct {
	Streams []goldenStream
	Bounds  []struct {
		In           int
		Weight, Bias string
	}
}

type goldenStream struct {
	Name    string
	Seed    uint64
	Calls   []goldenCall
	State   string
	Waiting string
}

type goldenCall struct {
	Op    string
	Type  string
	N     int
	In    int
	A, B  float64
	Every int
	Bits  string
	Sum   string
}

func (c goldenCall) String() string {
	return fmt.Sprintf("%s %s %d (%v, %v)", c.Op, c.Type, c.N, c.A, c.B)
}

func loadGolden(t *testing.T) golden {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "torchrand", "torchrand.json"))
	require.NoError(t, err)
	var g golden
	require.NoError(t, json.Unmarshal(text, &g))
	require.NotEmpty(t, g.Streams)
	require.NotEmpty(t, g.Bounds)
	return g
}

// A float64 normal value may be maxUlp64 from PyTorch's. It is a product of √(-2·ln u) and
// a sine or cosine. If the C library and this package round the logarithm or the sine to
// different neighbours, the product differs by 1 or 2 ulp; that is fewer than 1 in 50
// values. A wrong formula differs by 2⁵⁰ ulp; one more rounding changes every tenth value.
const (
	maxUlp64     = 2
	maxUnequal64 = 0.02
)

// TestStreamsArePyTorchs repeats each recorded stream. All values but float64 normal ones
// must be equal bit for bit, even float32 normal ones, which follow PyTorch's own
// single-precision functions operation by operation.
func TestStreamsArePyTorchs(t *testing.T) {
	type count struct{ values, unequal int }
	normals := map[string]count{} // by the stream's name
	for _, s := range loadGolden(t).Streams {
		t.Run(fmt.Sprintf("%s/%d", s.Name, s.Seed), func(t *testing.T) {
			g := torchrand.New(s.Seed)
			for i, c := range s.Calls {
				var d comparison
				switch c.Type {
				case "float32":
					d = compare[float32](t, g, c)
				case "float64":
					d = compare[float64](t, g, c)
				}
				require.NotZero(t, d.values, "call %d: %v", i, c)
				if c.Op == "normal" && c.Type == "float64" {
					require.LessOrEqual(t, d.worst, float64(maxUlp64), "call %d: %v: distance in ulp", i, c)
					n := normals[s.Name]
					normals[s.Name] = count{n.values + d.values, n.unequal + d.unequal}
					continue
				}
				require.Zero(t, d.worst, "call %d: %v: distance in ulp", i, c)
				require.Equal(t, c.Sum, d.sum, "call %d: %v: checksum of all values", i, c)
			}
			checkState(t, g, s)
		})
	}
	for _, name := range []string{"standard", "shifted"} {
		n := normals[name]
		assert.Greater(t, n.values, 1000, name)
		assert.LessOrEqual(t, float64(n.unequal), maxUnequal64*float64(n.values), "%s: unequal of %d float64 normal values",
			name, n.values)
	}
}

// comparison is the result of comparing a call's values with PyTorch's.
type comparison struct {
	values, unequal int     // numbers of recorded values and of unequal ones
	worst           float64 // largest distance of a recorded value in ulp
	sum             string  // SHA-256 of all values' bits
}

// compare makes the call c and compares the recorded values.
func compare[F torchrand.Float](t *testing.T, g *torchrand.Generator, c goldenCall) comparison {
	t.Helper()
	raw, err := hex.DecodeString(c.Bits)
	require.NoError(t, err)
	got := play[F](g, c)
	want := make([]F, (len(got)+c.Every-1)/c.Every)
	n, err := binary.Decode(raw, binary.BigEndian, want)
	require.NoError(t, err)
	require.Len(t, raw, n)

	all, err := binary.Append(nil, binary.BigEndian, got)
	require.NoError(t, err)
	sum := sha256.Sum256(all)
	d := comparison{values: len(want), sum: hex.EncodeToString(sum[:])}
	for i, w := range want {
		if v := got[i*c.Every]; v != w {
			d.unequal++
			d.worst = max(d.worst, ulps(v, w, F(c.A)))
		}
	}
	return d
}

// ulps returns |got-want| in ulp of want, or of mean if that is larger: it was added last.
func ulps[F torchrand.Float](got, want, mean F) float64 {
	scale := max(math.Abs(float64(want)), math.Abs(float64(mean)))
	_, exp := math.Frexp(scale)
	digits := 53
	if _, ok := any(want).(float32); ok {
		digits = 24
	}
	return math.Ldexp(math.Abs(float64(got)-float64(want)), digits-exp)
}

// play makes one recorded call.
func play[F torchrand.Float](g *torchrand.Generator, c goldenCall) []F {
	d := make([]F, c.N)
	switch c.Op {
	case "uniform":
		torchrand.Uniform(g, d, F(c.A), F(c.B))
	case "normal":
		torchrand.Normal(g, d, F(c.A), F(c.B))
	case "linear": // (out, in) weight and (out) bias
		out := c.N / (c.In + 1)
		w := F(torchrand.KaimingUniformBound(c.In))
		torchrand.Uniform(g, d[:out*c.In], -w, w)
		b := F(torchrand.LinearBiasBound(c.In))
		torchrand.Uniform(g, d[out*c.In:], -b, b)
	}
	return d
}

// checkState compares g's state with torch.get_rng_state() after the stream s.
func checkState(t *testing.T, g *torchrand.Generator, s goldenStream) {
	t.Helper()
	state := g.State()
	got := math.Float64frombits(binary.LittleEndian.Uint64(state[5024:]))
	bits, err := strconv.ParseUint(s.Waiting, 16, 64)
	require.NoError(t, err)
	want := math.Float64frombits(bits)
	if got != want {
		assert.LessOrEqual(t, ulps(got, want, 0), float64(maxUlp64), "waiting normal value: distance in ulp")
	}
	clear(state[5024:5032])
	sum := sha256.Sum256(state)
	assert.Equal(t, s.State, hex.EncodeToString(sum[:]), "state")
}

func TestLinearBoundsArePyTorchs(t *testing.T) {
	differ := false
	for _, b := range loadGolden(t).Bounds {
		weight, err := strconv.ParseFloat(b.Weight, 64)
		require.NoError(t, err)
		bias, err := strconv.ParseFloat(b.Bias, 64)
		require.NoError(t, err)
		assert.Equal(t, weight, torchrand.KaimingUniformBound(b.In), "weight, %d inputs", b.In)
		assert.Equal(t, bias, torchrand.LinearBiasBound(b.In), "bias, %d inputs", b.In)
		differ = differ || weight != bias
	}
	assert.True(t, differ, "the two bounds differ in their rounding")
	for _, n := range []int{0, -1, math.MinInt} {
		assert.Zero(t, torchrand.KaimingUniformBound(n))
		assert.Zero(t, torchrand.LinearBiasBound(n))
	}
}
