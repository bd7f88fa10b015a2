package plot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each line is its letter in the row of its value, rounded; where two meet there is an asterisk.
func TestText(t *testing.T) {
	got := Text([]int{4, 5, 6}, []TextLine{{Mark: 'a', Name: "first", Y: []float64{0, 44, 100}},
		{Mark: 'b', Name: "second", Y: []float64{100, 46, 100}}}, "length")
	require.Equal(t, strings.Join([]string{
		"  100 | b   *",
		"   90 |",
		"   80 |",
		"   70 |",
		"   60 |",
		"   50 |   b",
		"   40 |   a",
		"   30 |",
		"   20 |",
		"   10 |",
		"    0 | a",
		"      +------",
		"          5",
		"       length",
		"       a first   b second   * more than one",
		"",
	}, "\n"), got)
}
