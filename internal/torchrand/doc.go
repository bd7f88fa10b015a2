// Package torchrand draws the random numbers that PyTorch draws on a CPU: after
// the same seed, the same calls give the same values. It knows plain slices only.
//
//	torch.manual_seed(123)           g := torchrand.New(123)
//	torch.rand(6)                    torchrand.Uniform(g, x, 0, 1)
//	torch.randn(6)                   torchrand.Normal(g, x, 0, 1)
//	nn.Linear(3, 2).weight           torchrand.Uniform(g, w, -b, b), b = KaimingUniformBound(3)
//	nn.Dropout(0.5)(x)               torchrand.KeepMask(g, m, 0.5), then x·m/(1-0.5)
//	torch.get_rng_state()            g.State()
//	torch.set_rng_state(s)           g.SetState(s)
//
// What is equal bit for bit, and what nearly: Uniform, the bounds, the position in
// the stream and the bytes of a State without a waiting normal value are equal in
// every bit. So is a float32 Normal of 16 and more values, compared with PyTorch on
// a CPU with AVX2 (on one without, PyTorch's own values differ from these by up to
// 2e-6). For every other Normal, PyTorch takes the logarithm, sine and cosine from
// the C library; 99 of 100 float64 values are equal, the others differ by 1 or 2
// ulp. The package itself gives the same bits on every machine.
//
// A call is part of the stream: two Normal calls of 8 values are not one of 16,
// as in PyTorch.
package torchrand
