package torchrand_test

import (
	"testing"

	"attention/internal/torchrand"
)

// benchLen is the size of GPT-2 small's input of one sequence.
const benchLen = 1024 * 768

func BenchmarkUniform32(b *testing.B) {
	benchFill(b, func(g *torchrand.Generator, d []float32) { torchrand.Uniform(g, d, -0.5, 0.5) })
}

func BenchmarkUniform64(b *testing.B) {
	benchFill(b, func(g *torchrand.Generator, d []float64) { torchrand.Uniform(g, d, -0.5, 0.5) })
}

func BenchmarkNormal32(b *testing.B) {
	benchFill(b, func(g *torchrand.Generator, d []float32) { torchrand.Normal(g, d, 0, 1) })
}

func BenchmarkNormal64(b *testing.B) {
	benchFill(b, func(g *torchrand.Generator, d []float64) { torchrand.Normal(g, d, 0, 1) })
}

func BenchmarkKeepMask32(b *testing.B) {
	benchFill(b, func(g *torchrand.Generator, d []float32) { torchrand.KeepMask(g, d, 0.1) })
}

func benchFill[F torchrand.Float](b *testing.B, fill func(*torchrand.Generator, []F)) {
	g := torchrand.New(123)
	d := make([]F, benchLen)
	for b.Loop() {
		fill(g, d)
	}
}
