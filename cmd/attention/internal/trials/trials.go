// Package trials has the common parts of commands that train small models from several seeds and compare them: the
// flags, the order of the trainings, and the folder of results.
package trials

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"attention/cmd/attention/internal/term"
	"attention/internal/folder"
	"attention/internal/parallel"

	"github.com/spf13/cobra"
)

// Run calls a command's function with a context that ends at Ctrl-C and when the terminal is lost.
func Run(cmd *cobra.Command, f func(ctx context.Context) error) error {
	ctx, release := term.UntilSignal(cmd.Context(), term.LostSignals()...)
	defer release()
	return term.WithSignal(ctx, term.Stopped(ctx, f(ctx)))
}

// Trials are the trainings of one run of a command.
type Trials struct {
	Out   *term.Output
	Dir   *folder.Dir
	Seeds []int64
	Files []string // the files that Write wrote, without report.json

	mutex   sync.Mutex // guards the fields below
	bar     *term.Progress
	reports map[int]func() error // of ended trials
	next    int                  // the trial whose report is called next
}

// Open makes the folder of a command's results. The caller must close it.
func (t Flags) Open(out *term.Output, command string) (*Trials, error) {
	dir, err := folder.MakeEmpty(t.Out, command)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return &Trials{Out: out, Dir: dir, Seeds: t.All()}, nil
}

// Write writes a file into the folder.
func (t *Trials) Write(name string, write func(io.Writer) error) error {
	if err := t.Dir.Write(name, write); err != nil {
		return err
	}
	t.Files = append(t.Files, name)
	return nil
}

// WriteReport writes report.json.
func (t *Trials) WriteReport(report any) error {
	return t.Dir.Write("report.json", func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(report)
	})
}

// Each runs n trials of some steps each, several at the same time. A trial calls Step for each step. Each calls the
// reports in the order of the trials. The first error ends all trials.
func (t *Trials) Each(ctx context.Context, n, steps, beside int,
	trial func(ctx context.Context, i int) (report func() error, err error)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	t.bar, t.reports, t.next = term.NewProgress(t.Out, n*steps), map[int]func() error{}, 0
	beside = min(n, beside)
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
			if err == nil {
				err = t.end(i, report)
			}
			if err != nil {
				end(err)
			}
			<-places
		})
	}
	running.Wait()
	t.bar.Clear()
	return context.Cause(ctx)
}

// Step shows on the progress line that a trial has taken a step.
func (t *Trials) Step(loss float64) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.bar.Step(loss)
}

// end is called when trial i has ended. It calls the reports of all trials up to the first one that still runs.
func (t *Trials) end(i int, report func() error) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.reports[i] = report
	for ; t.reports[t.next] != nil; t.next++ {
		report := t.reports[t.next]
		delete(t.reports, t.next) // also after an error, so that no report is called twice
		t.bar.Clear()
		if err := report(); err != nil {
			return err
		}
	}
	return nil
}
