package bench

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// measure builds the work's graph, runs it once to warm up and then times it.
func measure(ctx context.Context, w work, o options) (*result, error) {
	took, ops, err := timeWork(ctx, w, o)
	if err != nil {
		return nil, err
	}
	memory, err := peakMemory()
	if err != nil {
		return nil, err
	}
	seconds, flop := median(took), w.flop()
	w.NumKVHeads, w.Precision = w.keyHeads(), w.precision().String()
	if w.Mode != gptStep {
		w.NumLayers, w.VocabSize = 0, 0
	}
	return &result{
		Name: w.name(), work: w, Threads: runtime.GOMAXPROCS(0), Runs: len(took),
		Seconds: seconds, SecondsMin: slices.Min(took), PeakRSS: memory,
		Flop: flop, FlopPerSecond: float64(flop) / seconds, Kernels: measureKernels(w), Ops: ops,
	}, nil
}

// timeWork times runs of the work as timeRuns does, and with --profile their ops.
func timeWork(ctx context.Context, w work, o options) (took []float64, ops []opTime, err error) {
	run, end, err := prepare(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	if !o.profile {
		took, err = timeRuns(o.runs, run)
		return took, nil, cmp.Or(err, end())
	}
	run, opTimes := profiled(runtime.GOMAXPROCS(0), run)
	took, err = timeRuns(o.runs, run)
	return took, opTimes(), cmp.Or(err, end())
}

// prepare returns a function that runs the work, and a function that releases it.
func prepare(ctx context.Context, w work) (run, end func() error, err error) {
	if w.Mode == gptStep {
		step, err := newGPTStep(w)
		return func() error { _, err := step(); return err }, func() error { return nil }, err
	}
	wanted, err := graphOf(w)
	if err != nil {
		return nil, nil, err
	}
	m, err := machine.New(wanted...)
	if err != nil {
		return nil, nil, err
	}
	return func() error { return m.Run(ctx) }, m.Close, nil
}

// graphOf returns the output (B, T, E) of the work's layer on normal random numbers and, in mode forwardBackward, the
// gradients of its parameters. The upstream gradient is a fixed random tensor, like that of a loss that is the output's
// inner product with it.
func graphOf(w work) (wanted G.Nodes, err error) {
	mode := layers.Eval
	if w.Mode == forwardBackward {
		mode = layers.Train
	}
	shape := []int{w.Batch, w.Tokens, w.EmbedDim}
	b := layers.NewBuild(layers.NewParams(w.elementType(), 123), mode)
	b.SetPrecision(w.precision())
	x := randomInput(b, "x", shape)
	layer, err := layers.NewAttention(b.Params().Scope(""), w.layer())
	if err != nil {
		return nil, err
	}
	wanted = G.Nodes{b.Of(layer.Forward(b, x))}
	if mode == layers.Eval {
		return wanted, b.Err()
	}
	upstream := randomInput(b, "upstream", shape)
	if err := b.Err(); err != nil {
		return nil, err
	}
	gradients, err := G.Backpropagate(wanted, G.Nodes{upstream}, b.Learnables())
	return append(wanted, gradients...), err
}

// randomInput returns an input of standard normal numbers.
func randomInput(b *layers.Build, name string, shape []int) *G.Node {
	n := b.Input(name, shape...)
	return b.Of(n, G.Let(n, b.Params().Draw(layers.Normal(0, 1), shape...)))
}

// timeRuns calls run once to warm up, then the number of times in runs, and returns the seconds of each of these. 0
// means as many runs as two seconds hold, from 5 to 1000.
func timeRuns(runs int, run func() error) ([]float64, error) {
	if err := run(); err != nil {
		return nil, err
	}
	var took []float64
	for begin := time.Now(); ; {
		n := len(took)
		if runs > 0 && n == runs || runs == 0 && n >= 5 && (n == 1000 || time.Since(begin) > 2*time.Second) {
			return took, nil
		}
		start := time.Now()
		if err := run(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start).Seconds())
	}
}

// median returns the median of at least one number; for an even count, the mean of the middle two.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// measureKernels measures the peak of the work's products on all threads together.
func measureKernels(w work) program.Kernels {
	return program.MeasureKernels(w.numbers(), 100*time.Millisecond)
}
