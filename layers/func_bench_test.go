package layers_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BenchmarkFuncBuild builds and plans the graph of a GPT-2 of 12 layers for a new length: of its forward pass, with a
// context that is already done, so that no op runs.
func BenchmarkFuncBuild(b *testing.B) {
	p := layers.NewBlankParams(tensor.Float32)
	m := must(layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 50257, ContextLength: 1024, EmbedDim: 768, NumLayers: 12,
		NumHeads: 12}))
	f := must(layers.NewFunc(p, func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(m.Next(b, in["ids"]))
	}, layers.FuncConfig{}))
	done, cancel := context.WithCancel(b.Context())
	cancel()
	n := 0
	for b.Loop() {
		if _, err := f.Call(done, layers.Values{"ids": someIDs(tensor.Int, 1, 64+n%64)}); err == nil {
			b.Fatal("not stopped")
		}
		n++
	}
}

// BenchmarkFuncCall compares a call of a known shape with a run of a machine by hand.
func BenchmarkFuncCall(b *testing.B) {
	m := newTagger(b, tensor.Float32)
	v, ctx := layers.Values{"ids": someIDs(tensor.Int, 1, 2)}, b.Context()
	b.Run("machine", func(b *testing.B) {
		build := layers.NewBuild(m.params, layers.Eval)
		vm := must(machine.New(m.nodes(build, build.InputsOf(v))...))
		b.ReportAllocs()
		for b.Loop() {
			if err := G.Let(build.Inputs()["ids"], v["ids"]); err != nil {
				b.Fatal(err)
			}
			if err := vm.Run(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("func", func(b *testing.B) {
		f := must(layers.NewFunc(m.params, m.nodes, layers.FuncConfig{}))
		var out []*tensor.Dense
		b.ReportAllocs()
		for b.Loop() {
			out = must(f.CallInto(ctx, out, v))
		}
	})
}

// BenchmarkFuncShapes calls a function with a thousand random shapes, and reports the memory that is held after a
// hundred of them and after all.
func BenchmarkFuncShapes(b *testing.B) {
	m := newTagger(b, tensor.Float32)
	held := func() float64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return float64(s.HeapAlloc) / 1e6
	}
	for b.Loop() {
		random, before := rand.New(rand.NewPCG(1, 2)), held()
		f := must(layers.NewFunc(m.params, m.nodes, layers.FuncConfig{}))
		for i := range 1000 {
			must(f.Call(b.Context(), layers.Values{"ids": someIDs(tensor.Int, 1+random.IntN(16), 1+random.IntN(200))}))
			switch i + 1 {
			case 100:
				b.ReportMetric(held()-before, "MB/100")
			case 1000:
				b.ReportMetric(held()-before, "MB/1000")
			}
		}
		b.ReportMetric(float64(f.Bytes())/1e6, "MB-arena")
	}
}
