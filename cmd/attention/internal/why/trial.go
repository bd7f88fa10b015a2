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

// trials are the trainings of a task: of each model from each seed. They run side by side, since graphs as small as
// these do not fill two processors.
type trials struct {
	models, seeds int
	steps         int
	rate          float64 // the highest learning rate
	// run trains a model, by its number, from a seed, by its number. It may run beside others.
	run func(ctx context.Context, t *trials, model, seed int) error
	// print prints the result of one. The order is that of the seeds, and in each that of the models.
	print func(model, seed int)

	building sync.Mutex // held while a graph is built: Gorgonia's graphs share some state
	mutex    sync.Mutex // of what follows
	bar      *term.Progress
	next     int // trial to begin
	done     []bool
	printed  int
	err      error
}

// warmup is the number of steps before the highest learning rate.
const warmup = 50

// all runs all trials. It returns the seconds that they took together, and the first error, which ends the others.
func (t *trials) all(ctx context.Context, out *term.Output) (seconds float64, err error) {
	n := t.models * t.seeds
	t.done, t.bar = make([]bool, n), term.NewProgress(out, n*t.steps)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := program.Now()
	var running sync.WaitGroup
	beside := min(n, workers())
	defer kernel.SideBySide(beside)()
	for range beside {
		running.Go(func() {
			for i := t.begin(); i < n; i = t.begin() {
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

// begin returns the number of the next trial.
func (t *trials) begin() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.next++
	return t.next - 1
}

// end ends a trial and prints all results whose turn has come. It returns the first error of all trials.
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
	t.building.Lock()
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
	t.building.Unlock()
	if err != nil {
		return 0, err
	}
	err = loop.Run(ctx, source, nil)
	return mean, err
}
