package graph

import "math"

// frequencies returns the angle of each pair at position 1. LinearScaling, which divides positions, leaves them alone.
func (c RoPEConfig) frequencies() []float64 {
	f := frequencies(c.Base, c.Dims)
	switch c.Scaling {
	case Llama3Scaling:
		c.mixByTurns(f)
	case YaRNScaling:
		c.mixByPairs(f)
	}
	return f
}

// mixByTurns slows down each frequency by its number of turns over the original length: by Factor at LowFreqFactor
// turns, by nothing at HighFreqFactor, and linearly between.
func (c RoPEConfig) mixByTurns(f []float64) {
	for i, w := range f {
		turns := float64(c.OriginalLength) * w / (2 * math.Pi)
		kept := (turns - c.LowFreqFactor) / (c.HighFreqFactor - c.LowFreqFactor)
		f[i] = mix(w/c.Factor, w, kept)
	}
}

// mixByPairs slows down each frequency by the number of its pair: by nothing up to the pair that turns BetaFast times
// over the original length, by Factor from the one on that turns BetaSlow times, and linearly between.
func (c RoPEConfig) mixByPairs(f []float64) {
	pair := func(turns float64) float64 {
		return float64(c.Dims) * math.Log(float64(c.OriginalLength)/(2*math.Pi*turns)) / (2 * math.Log(c.Base))
	}
	first := max(math.Floor(pair(c.BetaFast)), 0)
	last := min(math.Ceil(pair(c.BetaSlow)), float64(c.Dims-1))
	if first == last {
		last += 0.001 // as in the paper's program
	}
	for i, w := range f {
		f[i] = mix(w, w/c.Factor, (float64(i)-first)/(last-first))
	}
}

// mix returns a at share 0 and below, b at share 1 and above, and interpolates linearly between them.
func mix(a, b, share float64) float64 {
	share = min(max(share, 0), 1)
	return (1-share)*a + share*b
}
