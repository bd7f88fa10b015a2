package torchrand

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

// A float64 normal value may differ from PyTorch's by maxUlp64. It is a product of √(-2·ln u) and a sine or cosine. If
// the C library and this package round the logarithm or the sine to different neighbours, the product differs by 1 or 2
// ulp; that is fewer than 1 in 50 values. A wrong formula differs by 2⁵⁰ ulp; one more rounding changes every tenth
// value.
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
			g := New(s.Seed)
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
func compare[F Float](t *testing.T, g *Generator, c goldenCall) comparison {
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
func ulps[F Float](got, want, mean F) float64 {
	scale := max(math.Abs(float64(want)), math.Abs(float64(mean)))
	_, exp := math.Frexp(scale)
	digits := 53
	if _, ok := any(want).(float32); ok {
		digits = 24
	}
	return math.Ldexp(math.Abs(float64(got)-float64(want)), digits-exp)
}

// play makes one recorded call.
func play[F Float](g *Generator, c goldenCall) []F {
	d := make([]F, c.N)
	switch c.Op {
	case "uniform":
		Uniform(g, d, F(c.A), F(c.B))
	case "normal":
		Normal(g, d, F(c.A), F(c.B))
	case "linear": // (out, in) weight and (out) bias
		out := c.N / (c.In + 1)
		w := F(KaimingUniformBound(c.In))
		Uniform(g, d[:out*c.In], -w, w)
		b := F(LinearBiasBound(c.In))
		Uniform(g, d[out*c.In:], -b, b)
	}
	return d
}

// checkState compares g's state with torch.get_rng_state() after the stream s.
func checkState(t *testing.T, g *Generator, s goldenStream) {
	t.Helper()
	bits, err := strconv.ParseUint(s.Waiting, 16, 64)
	require.NoError(t, err)
	want := math.Float64frombits(bits)
	if g.normal != want {
		assert.LessOrEqual(t, ulps(g.normal, want, 0), float64(maxUlp64), "waiting normal value: distance in ulp")
	}
	sum := sha256.Sum256(stateOf(g, s.Seed))
	assert.Equal(t, s.State, hex.EncodeToString(sum[:]), "state")
}

// stateOf returns the 5056 bytes of torch.get_rng_state() for a generator in g's state, except the stored normal value,
// which is 0. The fields are little-endian: seed uint64, left int32 (unused words, plus one), seeded int32, next
// uint64, 624 words of 32 bits each in a uint64, and at 5040 whether a normal value waits. All other bytes are 0.
func stateOf(g *Generator, seed uint64) []byte {
	s := make([]byte, 5056)
	next, left := g.next, mtWords+1-g.next
	if g.words == New(seed).words { // PyTorch begins with no word used and none to draw
		next = 0
	}
	binary.LittleEndian.PutUint64(s[0:], seed)
	binary.LittleEndian.PutUint32(s[8:], uint32(left))
	binary.LittleEndian.PutUint32(s[12:], 1)
	binary.LittleEndian.PutUint64(s[16:], uint64(next))
	for i, w := range g.words {
		binary.LittleEndian.PutUint64(s[24+8*i:], uint64(w))
	}
	if g.hasNormal {
		s[5040] = 1
	}
	return s
}
