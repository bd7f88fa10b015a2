package mask_test

import (
	"math"
	"strings"
	"testing"

	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// shown returns a line for each query of each batch of the first head, with # for visible and - for hidden keys.
func shown(t testing.TB, m mask.Mask, s mask.Scores, in ...*tensor.Dense) string {
	t.Helper()
	m, _, err := mask.Resolve(m, s)
	require.NoError(t, err)
	keys, err := mask.Bind(m, in, s)
	require.NoError(t, err)
	var lines []string
	for row := range s.B() * s.T {
		var line strings.Builder
		sees := make([]bool, s.S)
		keys.Fill(row/s.T, 0, row%s.T, 0, sees)
		for _, is := range sees {
			if is {
				line.WriteByte('#')
			} else {
				line.WriteByte('-')
			}
		}
		lines = append(lines, line.String())
	}
	return strings.Join(lines, " ")
}

// The rule of the ONNX standard's Attention with is_causal and past keys: key s is hidden from query t if s > t + past.
// The standard's operator has S = past + T; without past keys and with other S its triangle begins at the upper left.
func TestCausalOffsetIsTheRuleOfONNX(t *testing.T) {
	for _, c := range []struct {
		name       string
		past, T, S int
		want       string
	}{
		{name: "no past", T: 3, S: 3, want: "#-- ##- ###"},
		{name: "one past key", past: 1, T: 3, S: 4, want: "##-- ###- ####"},
		{name: "four past keys", past: 4, T: 2, S: 6, want: "#####- ######"},
		{name: "one query", past: 4, T: 1, S: 5, want: "#####"},
		{name: "more keys than past and queries", past: 1, T: 2, S: 5, want: "##--- ###--"},
		{name: "fewer keys", past: 2, T: 3, S: 4, want: "###- #### ####"},
		{name: "cross attention, no past", T: 2, S: 4, want: "#--- ##--"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mask.Scores{H: 1, T: c.T, S: c.S}
			require.Equal(t, c.want, shown(t, mask.Causal{Align: mask.UpperLeft, Offset: c.past}, s))
			start := tensor.New(tensor.WithBacking([]int64{int64(c.past)}), tensor.WithShape(1))
			require.Equal(t, c.want, shown(t, mask.CausalAt{}, s, start))
			if c.past > 0 || c.T == c.S {
				require.Equal(t, c.want, shown(t, mask.Causal{Offset: c.past}, s), "placed by the offset alone")
			}
			if c.S == c.past+c.T {
				require.Equal(t, c.want, shown(t, mask.Causal{Align: mask.LowerRight}, s))
			}
		})
	}
}

func TestCausalOffsets(t *testing.T) {
	for _, c := range []struct {
		name   string
		mask   mask.Causal
		T, S   int
		starts []int
		want   string
	}{
		{name: "not its own key", mask: mask.Causal{Offset: -1}, T: 3, S: 3, want: "--- #-- ##-"},
		{name: "ahead", mask: mask.Causal{Offset: 1}, T: 3, S: 3, want: "##- ### ###"},
		{name: "from the lower right", mask: mask.Causal{Align: mask.LowerRight, Offset: -1}, T: 2, S: 4, want: "##-- ###-"},
		{name: "before all keys", mask: mask.Causal{Offset: -3}, T: 3, S: 3, want: "--- --- ---"},
		{name: "least", mask: mask.Causal{Offset: math.MinInt}, T: 2, S: 2, want: "-- --"},
		{name: "greatest", mask: mask.Causal{Offset: math.MaxInt}, T: 2, S: 2, want: "## ##"},
		{name: "with a cache", mask: mask.Causal{Offset: -1}, T: 2, S: 4, starts: []int{2}, want: "##-- ###-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, shown(t, c.mask, mask.Scores{H: 1, T: c.T, S: c.S, Starts: c.starts}))
		})
	}
	_, _, err := mask.Resolve(mask.Causal{}, mask.Scores{H: 1, T: 2, S: 3})
	require.EqualError(t, err, "got T=2 and S=3, want T = S or an alignment, upper_left or lower_right")
	_, _, err = mask.Resolve(mask.Causal{Align: mask.LowerRight, Offset: 1}, mask.Scores{H: 1, T: 3, S: 2})
	require.EqualError(t, err, "got T=3 and S=2 with lower_right, want S ≥ T")
	require.EqualError(t, mask.Validate(mask.Causal{Align: 7, Offset: 1}),
		"got Alignment(7), want one of square, upper_left, lower_right")
}
