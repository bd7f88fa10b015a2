package why

import (
	"context"
	"runtime"
	"sync"

	"attention/cmd/attention/internal/term"
	"attention/internal/parallel"
	"attention/train"
	"attention/train/loop"
)

// trials are trainings that run side by side, since such small graphs do not fill two processors.
type trials struct {
	mutex   sync.Mutex // guards the fields below
	bar     *term.Progress
	reports map[int]func() // of trials that have ended
	next    int            // the trial whose report is called next
}

// run runs n trials. It calls their reports in the order of the trials. The first error ends all trials.
func (t *trials) run(ctx context.Context, n int, trial func(ctx context.Context, i int) (report func(), err error),
) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	t.reports = map[int]func(){}
	beside := min(n, workers())
	defer parallel.SideBySide(beside)()
	places := make(chan bool, beside)
	var running sync.WaitGroup
	for i := range n {
		places <- true
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			report, err := trial(ctx, i)
			if err != nil {
				end(err)
			} else {
				t.end(i, report)
			}
			<-places
		})
	}
	running.Wait()
	t.bar.Clear()
	return context.Cause(ctx)
}

// workers returns how many trials run side by side.
func workers() int { return runtime.GOMAXPROCS(0) }

// end calls the reports whose turn has come when trial i has ended.
func (t *trials) end(i int, report func()) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.reports[i] = report
	for ; t.reports[t.next] != nil; t.next++ {
		t.bar.Clear()
		t.reports[t.next]()
		delete(t.reports, t.next)
	}
}

// warmup is the number of steps before the highest learning rate.
const warmup = 50

// train trains a model by the settings of its task. It returns the mean loss of the last steps.
func (t *trials) train(ctx context.Context, m learner, r *taskReport, seed int64) (mean float64, err error) {
	last := min(50, r.Steps)
	l, err := loop.New(m.Params(), m.Loss, loop.Config{
		Steps: r.Steps,
		StepConfig: train.StepConfig{
			Solver: train.SolverConfig{Name: train.AdamW, Beta2: 0.99},
			Schedule: train.ScheduleConfig{
				Schedule: train.CosineLR{Peak: r.Rate, WarmupSteps: min(warmup, r.Steps/4), Steps: r.Steps}},
			ClipNorm: 1, Seed: seed,
		},
		OnStep: func(s train.StepResult) {
			if s.Step > r.Steps-last {
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
	err = l.Run(ctx, m.examples(streamed(seed, trainStream)), nil)
	return mean, err
}
