package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
	"attention/internal/folder"
	"attention/internal/simd"
	"attention/train/parallel"
)

// Processes are the processes that mpirun started for one run, this one among them. The zero value is this process
// alone. All of them take the same steps. The first one, rank 0, leads: it prints and writes to the run folder.
type Processes struct {
	Group   *parallel.Group // nil for this process alone
	machine parallel.Machine
}

// Join returns the processes of mpirun, and a function that leaves them. Only one process of a machine prints an error:
// the first one that has it.
func Join() (p Processes, leave func() error, err error) {
	leave = func() error { return nil }
	group, machine, err := parallel.Join()
	switch {
	case err == nil:
	case machine.First:
		time.Sleep(time.Second) // other processes try in this time, if they have the error too
	default:
		Lag()
		err = term.Reported(err)
	}
	if err != nil || group == nil {
		return p, leave, err
	}
	return Processes{group, machine}, group.Close, nil
}

// Lag waits until the process that prints an error has exited, because mpirun kills all processes as soon as one fails.
func Lag() { time.Sleep(2 * time.Second) }

// Leads reports whether this process prints and has the run folder.
func (p Processes) Leads() bool { return p.Group == nil || p.Group.Rank() == 0 }

// Size returns the number of processes.
func (p Processes) Size() int {
	if p.Group == nil {
		return 1
	}
	return p.Group.Size()
}

// Agree returns an error in all processes if it is called with one in any of them. The leading process returns its own
// error unchanged; other errors name the process they come from.
func (p Processes) Agree(err error) error {
	if p.Group == nil {
		return err
	}
	agreed := p.Group.Agree(err)
	if p.Leads() && err != nil {
		return err
	}
	return agreed
}

// lead calls f in the leading process and returns its error in all.
func (p Processes) lead(f func() error) error {
	if !p.Leads() {
		return p.Agree(nil)
	}
	return p.Agree(f())
}

// Together returns the error of a command that all processes have executed. The leading process returns its own, or one
// of another process, and prints it; the other processes return an error that is not printed again.
func (p Processes) Together(err error) error {
	if p.Group == nil {
		return err
	}
	end := err
	if term.IsInterrupted(err) { // in all processes, which have agreed on it
		end = context.Canceled
	}
	agreed := p.Group.Agree(end)
	switch {
	case p.Leads():
		return cmp.Or(err, agreed)
	case errors.Is(agreed, context.Canceled):
		return term.Reported(term.Interrupted(agreed))
	case agreed != nil:
		return term.Reported(agreed)
	}
	return nil
}

// SameTask returns an error in all processes unless all begin a run or all resume one, before they exchange data about
// it. The leading process decides for all whether bfloat16 is worth it.
func (p Processes) SameTask(resumes bool) error {
	if p.Size() == 1 {
		return nil
	}
	task := "a new run"
	if resumes {
		task = "--resume of a run"
	}
	if err := p.Group.Same("task", task); err != nil {
		return err
	}
	return p.leadBF16()
}

// leadBF16 makes all processes use products of bfloat16 if the leading process does: their processors may differ, but
// the bits are equal.
func (p Processes) leadBF16() error {
	answer := []byte{0}
	if p.Leads() && simd.CheckBF16() == nil {
		answer[0] = 1
	}
	answers, err := p.Group.Gather(answer, slices.Repeat([]int{1}, p.Size()))
	if err != nil {
		return err
	}
	if !p.Leads() && answers[0][0] == 1 {
		simd.TakeBF16()
	}
	return nil
}

// CheckShares returns an error for more processes than batches of a step, of a new run or of one that resumes.
func (p Processes) CheckShares(batches int, resumes bool) error {
	switch {
	case batches >= p.Size():
		return nil
	case resumes:
		return fmt.Errorf("--resume: got %d processes for a run with --accumulate %d, want at most %[2]d: "+
			"they share the batches of a step", p.Size(), batches)
	}
	return fmt.Errorf("--accumulate: got %d with %d processes, want at least %[2]d: they share the batches of a step",
		batches, p.Size())
}

// checkAlike returns an error if the program or config of a process differs from the leading process's.
func (s *Session) checkAlike() error {
	if s.Size() == 1 {
		return nil
	}
	sum, err := programSum()
	if err := s.Agree(err); err != nil {
		return err
	}
	settings, err := json.Marshal(s.Config)
	if err := s.Agree(err); err != nil {
		return err
	}
	facts := append([]string{"program", program.Version(), "program's SHA-256", sum}, s.Facts...)
	for _, path := range slices.Sorted(maps.Keys(s.Training.About)) {
		facts = append(facts, path, s.Training.About[path])
	}
	facts = append(facts, "config", string(settings)) // also compares settings that change no bit
	return s.Group.Same(facts...)
}

// programSum returns the checksum of the program's file.
func programSum() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	_, sum, err := folder.Sum(path)
	return sum, err
}

// printProcesses prints how the processes share the machine, and how long a stop may take.
func (s *Session) printProcesses() {
	if s.Group == nil {
		return
	}
	phrases := []string{fmt.Sprintf("%d,", s.Size())}
	if m := s.machine; m.Threads > 0 {
		phrases = append(phrases, fmt.Sprintf("each with %s", count(m.Threads, "thread")),
			fmt.Sprintf("on %s", count(m.Cores, "core")))
		if m.Sharers > 1 {
			phrases = append(phrases, fmt.Sprintf("that %d of them share", m.Sharers))
		}
	}
	s.Print("processes", phrases...)
	if s.Size() > 1 {
		s.Print("", fmt.Sprintf("a step's %d batches are shared out;", s.Training.Accumulate),
			"kill -USR1 of mpirun ends the run", "with a checkpoint;", "after Ctrl-C",
			"mpirun leaves 1 s for that,", "or what --mca odls_base_sigkill_timeout says")
	}
}

// printTraffic prints how much this process sent to other processes.
func (s *Session) printTraffic() {
	if sent, least := s.Loop.Traffic(); least > 0 {
		fmt.Fprintf(s.Out, "A process sent %.3f MB a step, %.2f times the least for these gradients.\n",
			float64(sent)/1e6, float64(sent)/float64(least))
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
