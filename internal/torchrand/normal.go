package torchrand

import "math"

// blockLen is the number of values that PyTorch transforms together; a shorter
// dst is filled one value at a time.
const blockLen = 16

// Normal fills dst with normally distributed values of the given mean and
// standard deviation, as Tensor.normal_(mean, std) does, and torch.randn with 0
// and 1 (Box and Muller's transform of two uniform values into two normal ones).
//
// 16 and more values: all are drawn uniform first and then transformed in blocks
// of 16; where the length is not a multiple of 16, the last 16 values are drawn
// again and replaced. Fewer values: pairs are computed in float64, and the second
// of a pair that is not needed waits for the next such call, of either type.
//
// mean and std have dst's type. PyTorch's are float64, which shows only in a
// float32 dst of fewer than 16 values and with a std like 0.02 that float32
// cannot hold: there the last bit can differ.
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

// fillBlocks fills d, of 16 and more values, with draws and transforms each block.
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
