package torchrand

import "math"

// blockLen is the number of values that PyTorch transforms together. A shorter dst is
// filled one value at a time.
const blockLen = 16

// Normal fills dst with normally distributed values of the given mean and standard
// deviation, as Tensor.normal_(mean, std) does, and torch.randn with 0 and 1. It uses Box
// and Muller's transform of two uniform values into two normal ones.
//
// For 16 or more values it draws all uniform values first and transforms blocks of 16; if
// the length is no multiple of 16, it draws and replaces the last 16 values again. For
// fewer values it computes pairs in float64 and keeps an unused second value for the next
// such call, of either type.
//
// mean and std have dst's type. PyTorch's are float64: the last bit can differ in a float32
// dst of fewer than 16 values, for a std like 0.02 that float32 cannot hold.
func Normal[F Float](g *Generator, dst []F, mean, std F) {
	if len(dst) < blockLen {
		for i := range dst {
			dst[i] = F(math.FMA(g.nextNormal(), float64(std), float64(mean)))
		}
		return
	}
	switch d := any(dst).(type) {
	case []float32:
		fillBlocks(d, g.unit32, func(block []float32) { boxMuller32(block, float32(mean), float32(std)) })
	case []float64:
		fillBlocks(d, g.unit64, func(block []float64) { boxMuller64(block, float64(mean), float64(std)) })
	}
}

// fillBlocks fills d, of 16 or more values, with draws and transforms each block.
func fillBlocks[F Float](d []F, draw func() F, transform func(block []F)) {
	for i := range d {
		d[i] = draw()
	}
	for i := 0; i+blockLen <= len(d); i += blockLen {
		transform(d[i : i+blockLen])
	}
	if len(d)%blockLen != 0 {
		tail := d[len(d)-blockLen:]
		for i := range tail {
			tail[i] = draw()
		}
		transform(tail)
	}
}

// nextNormal is PyTorch's normal_distribution<double>: of two uniform values it
// makes √(-2·ln(1-u2))·(cos 2πu1, sin 2πu1), returns the first and keeps the second.
func (g *Generator) nextNormal() float64 {
	if g.hasNormal {
		z := g.normal
		g.normal, g.hasNormal = 0, false
		return z
	}
	u1 := g.unit64()
	u2 := g.unit64()
	radius := math.Sqrt(-2 * log(1-u2)) // 1-u2 is exact
	sin, cos := sincos(2 * math.Pi * u1)
	g.normal, g.hasNormal = radius*sin, true
	return radius * cos
}
