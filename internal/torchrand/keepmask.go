package torchrand

// MCG31m1, the multiplicative congruential generator of Intel's MKL (L'Ecuyer
// 1999): x ← 1132489760·x mod (2³¹-1).
const (
	mcgModulus    = 1<<31 - 1
	mcgMultiplier = 1132489760
)

// KeepMask fills dst with the mask of nn.Dropout(p) in training: 1 keeps a value and 0
// drops it, with probability p. The caller multiplies the kept values by 1/(1-p), and
// checks that 0 <= p <= 1.
//
// The stream is the one that PyTorch draws with Intel's MKL, in the common builds until 2024: one draw, modulo 2³¹-1,
// is the first x of an MCG31m1 generator, and value i is kept if x_i/(2³¹-1) < 1-p. Other builds draw other masks. So
// does PyTorch 2.15.0 with MKL: it draws a float64 for each value. An empty dst, p = 0 and p = 1 draw nothing.
func KeepMask[F Float](g *Generator, dst []F, p float64) {
	if len(dst) == 0 {
		return
	}
	if p == 0 || p == 1 {
		for i := range dst {
			dst[i] = F(1 - p)
		}
		return
	}
	x := uint64(g.Uint32()) % mcgModulus
	if x == 0 { // 0 would stay 0; MKL takes 1
		x = 1
	}
	for i := range dst {
		dst[i] = 0
		if float64(x)/mcgModulus < 1-p {
			dst[i] = 1
		}
		x = x * mcgMultiplier % mcgModulus
	}
}
