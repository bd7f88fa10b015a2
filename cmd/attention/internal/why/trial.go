package why

import (
	"context"
	"runtime"
	"sync"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
	"attention/internal/kernel"
	"attention/layers"
	"attention/train"
)

// trials trains each model of a task from each seed. The trainings run side by side, since such small graphs do not
// fill two processors.
type trials struct {
	models, seeds int
	steps         int
	rate          float64 // the highest learning rate
	// run trains model number model from seed number seed. It may run beside itself.
	run func(ctx context.Context, t *trials, model, seed int) error
	// print prints the result of one training: of all models of the first seed, then of the next one.
	print func(model, seed int)

	mutex   sync.Mutex // guards the fields below
	bar     *term.Progress
	done    []bool
	printed int
	err     error
}

// warmup is the number of steps before the highest learning rate.
const warmup = 50

// all runs all trials. It returns the seconds that they took together and the first error, which ends all trials.
func (t *trials) all(ctx context.Context, out *term.Output) (seconds float64, err error) {
	n := t.models * t.seeds
	t.done, t.bar = make([]bool, n), term.NewProgress(out, n*t.steps)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	numbers := make(chan int, n) // of the trials that have not begun
	for i := range n {
		numbers <- i
	}
	close(numbers)
	began := program.Now()
	var running sync.WaitGroup
	beside := min(n, workers())
	defer kernel.SideBySide(beside)()
	for range beside {
		running.Go(func() {
			for i := range numbers {
				if t.end(i, t.run(ctx, t, i%t.models, i/t.models)) != nil {
					cancel()
					return
				}
			}
		})
	}
	running.Wait()
	t.bar.Clear()
	return program.Since(began).Seconds(), t.err
}

// workers returns how many trials run side by side.
func workers() int { return runtime.GOMAXPROCS(0) }

// end records that trial i has ended and prints the results whose turn has come. It returns the first error of all
// trials.
func (t *trials) end(i int, err error) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.err == nil {
		t.err = err
	}
	t.done[i] = t.err == nil
	for ; t.printed < len(t.done) && t.done[t.printed]; t.printed++ {
		t.bar.Clear()
		t.print(t.printed%t.models, t.printed/t.models)
	}
	return t.err
}

// train trains the parameters on a source. It returns the mean loss of the last steps.
func (t *trials) train(ctx context.Context, p *layers.Params, source train.Source, seed int64, loss train.Loss,
) (mean float64, err error) {
	last := min(50, t.steps)
	loop, err := train.New(p, loss, train.Config{
		Steps: t.steps,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
			Schedule: train.ScheduleConfig{
				Schedule: train.CosineLR{Peak: t.rate, WarmupSteps: min(warmup, t.steps/4), Steps: t.steps}},
			ClipNorm: 1, Seed: seed,
		},
		OnStep: func(s train.StepResult) {
			if s.Step > t.steps-last {
				mean += s.Loss / float64(last)
			}
			t.mutex.Lock()
			defer t.mutex.Unlock()
			t.bar.Step(s.Loss)
		},
	})
	if err != nil {
		return 0, err
	}
	err = loop.Run(ctx, source, nil)
	return mean, err
}
