package compare

import (
	"context"

	"attention/cmd/attention/internal/program"
	"attention/graph"
	"attention/layers"
	"attention/layers/generate"
	"attention/train"
	"attention/train/loop"
	"attention/train/tasks/lookback"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// outcome is the result of a training.
type outcome struct {
	curve   []float64 // means of the losses of groups of steps
	loss    float64   // on new examples
	marks   []lookback.Mark
	seconds float64
	speed   float64 // tokens per second that the model draws
	memory  int     // bytes of training
}

// learn trains a model from a seed and examines it. onStep is called after each step.
func (g goal) learn(ctx context.Context, c layers.DecoderConfig, seed int64,
	onStep func(loss float64)) (outcome, error) {
	m, err := layers.NewDecoder(layers.NewParams(tensor.Float32, seed).Scope(""), c)
	if err != nil {
		return outcome{}, err
	}
	o, group := outcome{}, groupOf(g.steps)
	l, err := loop.New(m.Params(), text.TokenLoss(m.Loss), loop.Config{
		Steps: g.steps,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.Muon},
			Schedule: train.ScheduleConfig{Schedule: train.CosineLR{Peak: g.rate, WarmupSteps: g.steps / 20,
				Steps: g.steps}},
			ClipNorm: 1, Seed: seed,
		},
		OnStep: func(s train.StepResult) {
			if (s.Step-1)%group == 0 {
				o.curve = append(o.curve, 0)
			}
			last := len(o.curve) - 1
			o.curve[last] += s.Loss / float64(min(group, g.steps-last*group))
			onStep(s.Loss)
		},
	})
	if err != nil {
		return o, err
	}
	examples, err := g.examples(seed)
	if err != nil {
		return o, err
	}
	began := program.Now()
	if err := l.Run(ctx, examples, nil); err != nil {
		return o, err
	}
	o.seconds = program.Since(began).Seconds()
	memory := l.Memory()
	o.memory = memory.Weights + memory.Gradients + memory.Solver + memory.Graphs
	if o.loss, o.marks, err = g.examine(ctx, m, l, seed); err != nil {
		return o, err
	}
	o.speed, err = speed(ctx, m)
	return o, err
}

// groupOf returns how many training steps are averaged to one point of the curve, which has at most 50 points.
func groupOf(steps int) int {
	const points = 50
	return (steps + points - 1) / points
}

// speed returns the number of tokens that a model draws per second, one by one, in the second half of its context.
func speed(ctx context.Context, m *layers.Decoder) (float64, error) {
	g, err := generate.New(m, generate.Config{})
	if err != nil {
		return 0, err
	}
	const rounds = 8
	n, took := m.Config().ContextLength/2, 0.0
	for round := range 1 + rounds { // the first one warms up
		g.Reset()
		if err := g.Prompt(ctx, make([]int, n)); err != nil {
			return 0, err
		}
		began := program.Now()
		for _, err := range g.Take(ctx, n) {
			if err != nil {
				return 0, err
			}
		}
		if round > 0 {
			took += program.Since(began).Seconds()
		}
	}
	return float64(rounds*n) / took, nil
}

// cacheSize returns the bytes that a model's cache needs for each token, and those that do not depend on the number of
// tokens. If all attention has a window, the cache holds only the keys and values in it.
func cacheSize(c layers.DecoderConfig, window bool) (token, fixed int, err error) {
	m, err := layers.NewDecoder(layers.NewParams(tensor.Float32, 1).Scope(""), c)
	if err != nil {
		return 0, 0, err
	}
	of := func(tokens int) (n int) {
		cache, wrong := m.NewCache(graph.KVCacheConfig{Capacity: tokens, Windows: window})
		if wrong != nil {
			err = wrong
		}
		for _, layer := range cache {
			n += layer.Bytes()
		}
		return n
	}
	one := of(1)
	token = of(2) - one
	if window {
		return 0, of(c.ContextLength), err
	}
	return token, one - token, err
}
