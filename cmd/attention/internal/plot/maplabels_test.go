package plot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Each row and column has its label.
func TestHeatMapLabels(t *testing.T) {
	colors := whiteToBlue(1)
	h := HeatMap{Columns: []string{"a", "b", "c"}, Rows: []string{"d", "e"}, Values: make([]float64, 6)}
	p := h.plot("x", "y", colors, 1)
	labels := ""
	columns, rows := p.X.Tick.Marker.Ticks(0, 1), p.Y.Tick.Marker.Ticks(0, 1)
	require.Len(t, columns, 3)
	require.Len(t, rows, 2)
	for i, c := range columns {
		require.Equal(t, float64(i), c.Value)
		labels += c.Label
	}
	for i, r := range rows {
		require.Equal(t, float64(1-i), r.Value)
		labels += r.Label
	}
	require.Equal(t, "abcde", labels)
}

// A cell that is too small for its label leaves some out.
func TestLabelsAreThinned(t *testing.T) {
	require.Equal(t, []int{1, 1, 2, 3}, []int{labelEvery(30), labelEvery(8), labelEvery(7), labelEvery(3)})
	colors := whiteToBlue(1)
	labels := []string{"a", "b", "c", "d", "e"}
	p := HeatMap{Columns: labels, Rows: labels, Values: make([]float64, 25)}.plot("x", "y", colors, 2)
	columns, rows := p.X.Tick.Marker.Ticks(0, 1), p.Y.Tick.Marker.Ticks(0, 1)
	require.Equal(t, []string{"a", "c", "e"}, []string{columns[0].Label, columns[1].Label, columns[2].Label})
	require.Equal(t, 2.0, rows[1].Value)
	require.Equal(t, "c", rows[1].Label)
}

// If some labels are empty, all others are drawn at their places.
func TestLabelsThatAreThinAlready(t *testing.T) {
	got := ticks([]string{"1", "", "3", "", "", "6"}, 2, func(i int) int { return i })
	require.Equal(t, plot.ConstantTicks{{Value: 0, Label: "1"}, {Value: 2, Label: "3"}, {Value: 5, Label: "6"}}, got)
}

// Maps of one size are as large as one another and as the grid says, whatever their labels, and no label is cut off.
func TestMapsAreOfOneSize(t *testing.T) {
	words := []string{"a", "of", "whatsoever", "no"}
	for _, across := range []int{0, 2} {
		m := HeatMaps{X: "x", Y: "y", Scale: "weight", Across: across}
		for range 4 {
			m.Maps = append(m.Maps, HeatMap{Title: "title", Rows: words, Columns: words, Values: make([]float64, 16)})
		}
		cols, width, height := m.grid()
		require.Equal(t, 2, cols)
		left, below := m.labelRoom()
		colors := whiteToBlue(1)
		c := draw.New(vgimg.New(1000, 1000))
		for i, h := range m.Maps {
			if !m.rowsAt(i, cols) {
				h.Rows = make([]string, 4)
			}
			if !m.columnsAt(i, cols) {
				h.Columns = make([]string, 4)
			}
			p := h.plot("x", "y", colors, 1)
			data := vg.Rectangle{Min: vg.Point{X: 300, Y: 300}, Max: vg.Point{X: 300 + width, Y: 300 + height}}
			part := around(p, c, data)
			got := p.DataCanvas(part).Rectangle
			require.InDelta(t, 0, float64(got.Min.X-data.Min.X), 0.1)
			require.InDelta(t, 0, float64(got.Max.Y-data.Max.Y), 0.1)
			require.InDelta(t, float64(width), float64(got.Size().X), 0.1)
			require.InDelta(t, float64(height), float64(got.Size().Y), 0.1)
			require.LessOrEqual(t, float64(got.Min.X-part.Min.X), float64(left+mapMargin+axisRoom))
			require.LessOrEqual(t, float64(got.Min.Y-part.Min.Y), float64(below+mapMargin+axisRoom))
			require.LessOrEqual(t, float64(part.Max.Y-got.Max.Y), float64(mapTitle))
		}
		require.Equal(t, across == 0, m.rowsAt(1, cols))
		require.Equal(t, across == 0, m.columnsAt(0, cols))
		require.True(t, m.columnsAt(3, cols))
	}
}

// Labels that are words are drawn upwards, letters and numbers are not.
func TestLongLabels(t *testing.T) {
	require.False(t, isLong(strings.Split("a b · 64", " ")))
	require.True(t, isLong([]string{"a", "then"}))
	require.False(t, isLong([]string{"end", "é¤…"}), "characters, not bytes")
}

// A map of another text keeps its labels in every row.
func TestColumnsOfOtherMaps(t *testing.T) {
	m := HeatMaps{Across: 1, Maps: []HeatMap{{Columns: []string{"a"}}, {Columns: []string{"b"}}}}
	require.True(t, m.columnsAt(0, 1))
	m.Maps[1] = m.Maps[0]
	require.False(t, m.columnsAt(0, 1))
}

// A label is the whole token in characters that are seen, cut if it is long.
func TestLabels(t *testing.T) {
	require.Equal(t, []string{"a", "·", "the", "¶", "¶¶", "¤", "¤", "don't", "self·made", "extraordina…", "¤"},
		Labels([]string{"a", " ", " the", "\n", "\n\n", "\\xc3", "", "don't", "self made", "extraordinarily", "\t"}))
	var characters []string
	for _, c := range "aé≤ \n\r\t\u00a0\u200d😀語" {
		characters = append(characters, string(c))
	}
	require.Equal(t, []string{"a", "é", "≤", "·", "¶", "¤", "¤", "¤", "¤", "¤", "¤"}, Labels(characters))
}
