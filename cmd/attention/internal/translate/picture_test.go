package translate

import (
	"strings"
	"testing"

	"attention/train/tasks/dates"

	"github.com/stretchr/testify/require"
)

// Every character has its label.
func TestCrossPicture(t *testing.T) {
	weights := make([]float64, dates.ISOLength*4)
	p := crossPicture("title", dates.Pair{Written: "1 .2", ISO: "2003-02-01"}, [][]float64{weights, weights})
	require.Len(t, p.Maps, 2)
	require.Equal(t, "head 1", p.Maps[1].Title)
	require.Equal(t, []string{"1", "·", ".", "2"}, p.Maps[1].Columns)
	require.Len(t, p.Maps[1].Rows, dates.ISOLength)
	require.Equal(t, "2003-02-01", strings.Join(p.Maps[1].Rows, ""))
}
