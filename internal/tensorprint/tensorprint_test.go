package tensorprint

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

// TestFormatEqualsPyTorch compares with PyTorch's own text, to the character.
func TestFormatEqualsPyTorch(t *testing.T) {
	entries := golden.LoadPrinted(t, "chapter/torchprint.txt")
	require.Greater(t, len(entries), 500)
	for _, e := range entries {
		fields := strings.Fields(e.Head) // dtype, shape, recipe
		shape := goldenShape(t, fields[1])
		values := goldenValues(t, shape, fields[2:])
		got := ""
		switch fields[0] {
		case "f64":
			got = Format(values, shape)
		case "f32":
			narrow := make([]float32, len(values))
			for i, v := range values {
				narrow[i] = float32(v)
			}
			got = Format(narrow, shape)
		}
		require.Equal(t, e.Text, got, e.Head)
	}
}

func goldenShape(t *testing.T, text string) []int {
	if text == "-" {
		return nil
	}
	var shape []int
	for part := range strings.SplitSeq(text, "x") {
		size, err := strconv.Atoi(part)
		require.NoError(t, err)
		shape = append(shape, size)
	}
	return shape
}

// goldenValues returns the values of a recipe of torchprint.py.
func goldenValues(t *testing.T, shape []int, recipe []string) []float64 {
	var values []float64
	if recipe[0] == "hex" {
		for _, field := range recipe[1:] {
			v, err := strconv.ParseFloat(field, 64)
			require.NoError(t, err)
			values = append(values, v)
		}
		return values
	}
	require.Equal(t, "mix", recipe[0])
	seed, err := strconv.ParseUint(recipe[1], 10, 32)
	require.NoError(t, err)
	scale, err := strconv.ParseFloat(recipe[2], 64)
	require.NoError(t, err)
	count := uint64(1)
	for _, size := range shape {
		count *= uint64(size)
	}
	for i := range count {
		values = append(values, goldenElement(seed<<32|i, scale, recipe[3:]))
	}
	return values
}

func goldenElement(z uint64, scale float64, flags []string) float64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	h := z ^ z>>31
	v := float64(h>>40)/(1<<23) - 1
	if slices.Contains(flags, "positive") {
		v = math.Abs(v)
	}
	v *= scale
	if slices.Contains(flags, "spread") {
		v *= []float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4}[h&255%10]
	}
	if slices.Contains(flags, "whole") {
		v = math.Trunc(v)
	}
	if slices.Contains(flags, "special") && h>>8&7 == 0 {
		v = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN()}[h>>16&255%5]
	}
	return v
}

// Wrong data shows in the text and does not panic, as in fmt.Printf.
func TestFormatNamesWrongData(t *testing.T) {
	for _, c := range []struct {
		count int
		shape []int
	}{
		{count: 5, shape: []int{2, 3}}, {count: 7, shape: []int{2, 3}}, {count: 0}, {count: 2}, {count: 0, shape: []int{2}},
		{count: 0, shape: []int{-1, 0}}, {count: 0, shape: []int{0, -1}}, {count: 3, shape: []int{-3}},
		{count: 6, shape: []int{-2, -3}}, {count: 1, shape: []int{0}},
		{count: 4, shape: []int{1 << 62, 1 << 62}}, // whose product overflows
	} {
		want := fmt.Sprintf("tensor(!%d values for shape %v)", c.count, c.shape)
		require.Equal(t, want, Format(make([]float32, c.count), c.shape))
	}
}

// A number that is not printed changes neither widths nor notation.
func TestFormatLooksOnlyAtWhatItShows(t *testing.T) {
	data := make([]float64, 1001)
	for i := range data {
		data[i] = 1e12
	}
	for _, i := range []int{0, 1, 2, 998, 999, 1000} {
		data[i] = float64(i)
	}
	require.Equal(t, "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])", Format(data, []int{1001}))
}
