// Package torchrand draws the random numbers that PyTorch draws on a CPU: after
// the same seed, the same calls give the same values. It knows plain slices only.
//
//	torch.manual_seed(123)           g := torchrand.New(123)
//	torch.rand(6)                    torchrand.Uniform(g, x, 0, 1)
//	torch.randn(6)                   torchrand.Normal(g, x, 0, 1)
//	nn.Linear(3, 2).weight           torchrand.Uniform(g, w, -b, b), b = KaimingUniformBound(3)
//	nn.Dropout(0.5)(x)               torchrand.KeepMask(g, m, 0.5), then x·m/(1-0.5)
//
// Uniform, the bounds and the position in the stream are equal bit for bit. A float32 Normal of 16 or more values is,
// too, if PyTorch runs on a CPU with AVX2 (without AVX2 PyTorch's own values differ by up to 2e-6). For every other
// Normal, PyTorch uses the C library's logarithm, sine and cosine: 99 of 100 float64 values are equal, the others
// differ by 1 or 2 ulp. The package itself returns the same bits on every machine.
//
// As in PyTorch, the stream depends on the calls: two Normal calls of 8 values give other values than one call of 16.
package torchrand
