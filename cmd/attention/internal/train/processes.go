package train

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/train"
	"attention/train/parallel"

	"github.com/spf13/pflag"
)

// processes are those that mpirun started for one run, of which this is one. Nil is this process alone. All of them
// take the same steps; the first one, rank 0, prints, and has the run folder.
type processes struct{ train.Group }

// join returns the processes of mpirun, and a function that leaves them. One process of a machine tells an error.
func join() (p *processes, leave func() error, err error) {
	mpi, err := parallel.Join()
	if err != nil && !parallel.First() {
		lag()
		err = term.Told(err)
	}
	if err != nil || mpi == nil {
		return nil, func() error { return nil }, err
	}
	return &processes{mpi}, mpi.Close, nil
}

// lag lets the process that tells an error end first: mpirun kills the others as soon as one has failed.
func lag() { time.Sleep(2 * time.Second) }

// lead reports whether this process prints and has the run folder.
func (p *processes) lead() bool { return p == nil || p.Rank() == 0 }

func (p *processes) size() int {
	if p == nil {
		return 1
	}
	return p.Size()
}

// group returns the group of the training loop, nil for one process.
func (p *processes) group() train.Group {
	if p == nil {
		return nil
	}
	return p.Group
}

// agree returns an error in all processes if one has one. Rank 0 returns its own, for which it does not name itself.
func (p *processes) agree(err error) error {
	agreed := train.Agree(p.group(), err)
	if agreed != nil && err != nil && p.lead() {
		return err
	}
	return agreed
}

// execute executes the command in all processes: rank 0 prints its output and the error, if one of them has one.
func (p *processes) execute(ctx context.Context, w, notes io.Writer, flags *pflag.FlagSet, page *page) error {
	if !p.lead() {
		w, notes = io.Discard, io.Discard
	}
	err := p.begin(ctx, w, notes, flags, page)
	end := err
	if term.IsInterrupted(err) { // of all, which have told it each other
		end = context.Canceled
	}
	agreed := train.Agree(p.group(), end)
	switch {
	case p.lead():
		return cmp.Or(err, agreed)
	case errors.Is(agreed, context.Canceled):
		return term.Told(term.Interrupted(agreed))
	case agreed != nil:
		return term.Told(agreed)
	}
	return nil
}

func (p *processes) begin(ctx context.Context, w, notes io.Writer, flags *pflag.FlagSet, page *page) error {
	err := run.CheckFlags(flags)
	if err == nil && p.size() > 1 && run.Given(flags, "text") == run.StandardInput {
		err = fmt.Errorf("--text: got %s with %d processes, want a file: only one has the standard input",
			run.StandardInput, p.size())
	}
	if err == nil && p.lead() {
		err = page.listen(flags, notes)
	}
	if err := p.agree(err); err != nil {
		return err
	}
	if flags.Changed("resume") {
		return resumeRun(ctx, w, notes, flags, p, page)
	}
	return beginRun(ctx, w, flags, p, page)
}

// checkShares returns an error for a run whose steps have fewer batches than there are processes.
func (p *processes) checkShares(c run.Config, resumed bool) error {
	switch n := c.Training.Accumulate; {
	case n >= p.size():
		return nil
	case resumed:
		return fmt.Errorf("--resume: got %d processes for a run with --accumulate %d, want at most %[2]d: "+
			"they share the batches of a step", p.size(), n)
	default:
		return fmt.Errorf("--accumulate: got %d with %d processes, want at least %[2]d: they share the batches of a step",
			n, p.size())
	}
}

// checkAlike returns an error if one process has another program or config than rank 0.
func (r *training) checkAlike() error {
	if r.processes.size() == 1 {
		return nil
	}
	sum, err := programSum()
	if err := r.processes.agree(err); err != nil {
		return err
	}
	c := r.config
	about, err := c.About()
	if err := r.processes.agree(err); err != nil {
		return err
	}
	settings, err := json.Marshal(c)
	if err := r.processes.agree(err); err != nil {
		return err
	}
	facts := []train.Fact{{Name: "program", Value: program.Version()}, {Name: "program's SHA-256", Value: sum},
		{Name: "text", Value: fmt.Sprintf("%d bytes, SHA-256 %s", c.Text.Bytes, c.Text.SHA256)}}
	for _, path := range slices.Sorted(maps.Keys(about)) {
		facts = append(facts, train.Fact{Name: path, Value: about[path]})
	}
	if err := train.Same(r.processes.group(), facts...); err != nil {
		return err
	}
	return train.Same(r.processes.group(), train.Fact{Name: "config", Value: string(settings)}) // of what changes no bit
}

// programSum returns the checksum of the program's file.
func programSum() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = addFile(sum, path)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// follow trains in the processes other than rank 0, which take the steps of run together with it.
func (r *training) follow(ctx context.Context) error {
	if err := r.processes.agree(nil); err != nil { // that the report is begun
		return err
	}
	err := r.loop.Run(ctx, r.training, r.validation)
	if err == nil || r.stopped(ctx, err) {
		err = cmp.Or(err, r.useBest())
	}
	if err == nil {
		err = r.evaluateWhole(ctx)
	}
	if r.stopped(ctx, err) {
		return term.Interrupted(err)
	}
	return err
}

// stopped reports whether err is that a signal stopped the run, in this process or in another.
func (r *training) stopped(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return errors.Is(err, ctx.Err())
	}
	return r.processes.size() > 1 && errors.Is(err, context.Canceled)
}

// printProcesses prints how the processes share the machine, and how long a stop may take.
func (r *training) printProcesses() {
	if r.processes == nil {
		return
	}
	phrases := []string{fmt.Sprintf("%d,", r.processes.size())}
	if mpi, ok := r.processes.Group.(*parallel.MPI); ok {
		m := mpi.Machine()
		phrases = append(phrases, fmt.Sprintf("each with %s", count(m.Threads, "thread")),
			fmt.Sprintf("on %s", count(m.Cores, "core")))
		if m.Sharers > 1 {
			phrases = append(phrases, fmt.Sprintf("that %d of them share", m.Sharers))
		}
	}
	r.print("processes", phrases...)
	if r.processes.size() > 1 {
		r.print("", fmt.Sprintf("a step's %d batches are shared out;", r.config.Training.Accumulate),
			"kill -USR1 of mpirun ends the run", "with a checkpoint;", "after Ctrl-C",
			"mpirun leaves 1 s for that,", "or what --mca odls_base_sigkill_timeout says")
	}
}

// printTraffic prints what this process sent to others.
func (r *training) printTraffic() {
	if t := r.loop.Traffic(); t.Least > 0 {
		fmt.Fprintf(r.out, "A process sent %.3f MB a step, %.2f times the least for these gradients.\n", float64(t.Sent)/1e6,
			float64(t.Sent)/float64(t.Least))
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
