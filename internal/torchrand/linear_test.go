package torchrand

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinearBoundsArePyTorchs(t *testing.T) {
	differ := false
	for _, b := range loadGolden(t).Bounds {
		weight, err := strconv.ParseFloat(b.Weight, 64)
		require.NoError(t, err)
		bias, err := strconv.ParseFloat(b.Bias, 64)
		require.NoError(t, err)
		assert.Equal(t, weight, KaimingUniformBound(b.In), "weight, %d inputs", b.In)
		assert.Equal(t, bias, LinearBiasBound(b.In), "bias, %d inputs", b.In)
		differ = differ || weight != bias
	}
	assert.True(t, differ, "the two bounds differ in their rounding")
	for _, n := range []int{0, -1, math.MinInt} {
		assert.Zero(t, KaimingUniformBound(n))
		assert.Zero(t, LinearBiasBound(n))
	}
}
