package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/graph"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// rising yields the numbers 1, 2, … as batches of one.
type rising struct{ at, last int }

func (r *rising) Next() (train.Batch, error) {
	if r.at == r.last {
		r.at = 0
		return train.Batch{}, io.EOF
	}
	r.at++
	x := tensor.New(tensor.WithShape(1, 1), tensor.WithBacking([]float32{float32(r.at)}))
	return train.Batch{Inputs: map[string]*tensor.Dense{"x": x}, Tokens: 1}, nil
}

func (r *rising) State() []byte { return binary.LittleEndian.AppendUint64(nil, uint64(r.at)) }

func (r *rising) SetState(b []byte) error {
	r.at = int(binary.LittleEndian.Uint64(b))
	return nil
}

// lineSession returns the session of a model of one weight that learns to return its input.
func lineSession(t *testing.T, out io.Writer, steps int) *Session {
	p := layers.NewParams(tensor.Float32, 1)
	w, err := p.Scope("").Param("w", layers.Constant(0.5), 1, 1)
	require.NoError(t, err)
	loss := func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(graph.MSE(b.Of(G.Mul(in["x"], b.Node(w))), in["x"], graph.LossConfig{}))
	}
	var s *Session
	s, err = New(out, Plan{
		Command: "fit", CommandLine: "attention fit", Config: map[string]int{"steps": steps},
		About: map[string]string{"model": "line"}, Params: p, Loss: loss,
		Training: loop.Config{Steps: steps, EvalEvery: 2, About: map[string]string{"model": "line"},
			StepConfig: train.StepConfig{Schedule: train.ConstantRate(1e-3)}},
		Checkpoints: checkpoint.Config{Every: 2, Keep: 9}, Source: &rising{last: 100}, Validation: &rising{last: 3},
		Title: "line", Drawn: "*", Text: "numbers", Model: "a line",
		PrintHead:       func() { s.Print("model", "a line") },
		PrintEvaluation: func(e loop.Evaluation) { fmt.Fprintf(s.Out, "%d steps\n", e.Step) },
		End:             func() End { return End{Next: "To go on", Commands: []string{"go"}} },
	}, Processes{})
	require.NoError(t, err)
	return s
}

// finish trains, and saves what is learnt.
func finish(ctx context.Context, s *Session) error {
	return s.Run(ctx, func(error) (saved, _ error) { return s.Save(), nil })
}

// A new kind of run needs a model, its sources and functions that print: a run that is stopped and resumed ends with
// the bits of an uninterrupted one.
func TestSession(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	calm := lineSession(t, &out, 6)
	require.NoError(t, calm.Begin("calm"))
	require.NoError(t, finish(t.Context(), calm))
	require.Contains(t, out.String(), "model     a line\nkernels   ")
	require.Contains(t, out.String(), "folder    calm\n\n")
	require.Contains(t, out.String(), "2 steps\n4 steps\n6 steps\n")

	ctx, stop := context.WithCancel(t.Context())
	stopped := lineSession(t, io.Discard, 6)
	stopped.PrintEvaluation = func(e loop.Evaluation) { stop() }
	require.NoError(t, stopped.Begin("stopped"))
	err := finish(ctx, stopped)
	require.EqualError(t, err, "stopped after 2 of 6 steps; resume with: attention fit --resume stopped")
	require.True(t, term.IsInterrupted(err))
	r, err := ReadReport("stopped")
	require.NoError(t, err)
	require.Equal(t, Stopped, r.Session().State)

	resumed := lineSession(t, &out, 6)
	require.NoError(t, resumed.Resume("stopped", "", io.Discard))
	require.NoError(t, finish(t.Context(), resumed))
	require.Contains(t, out.String(), "          continues after 2 steps\n")
	require.Equal(t, calm.History.Digest(), resumed.History.Digest())
	for _, name := range []string{settings.ModelFile, settings.ConfigFile} {
		want, err := os.ReadFile(filepath.Join("calm", name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("stopped", name))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), name)
	}
	r, err = ReadReport("stopped")
	require.NoError(t, err)
	require.Equal(t, []any{"numbers", "a line", 1, Finished, 2, 6},
		[]any{r.Text, r.Model, r.Parameters, r.Session().State, r.Session().From, r.Session().To})
	require.Len(t, r.Sessions, 2)

	fewer := lineSession(t, io.Discard, 4)
	require.EqualError(t, fewer.Resume("stopped", "", io.Discard),
		"--steps: got 4, want at least the 6 that the run has taken")
}

// A run that has lost its checkpoints is refused if it had any, or if its model can be kept. Otherwise it begins again.
func TestResumeWithoutCheckpoints(t *testing.T) {
	t.Chdir(t.TempDir())
	runFor := func(steps int) {
		s := lineSession(t, io.Discard, steps)
		require.NoError(t, s.Begin(fmt.Sprint(steps)))
		require.NoError(t, finish(t.Context(), s))
		require.NoError(t, os.RemoveAll(filepath.Join(fmt.Sprint(steps), settings.CheckpointsFolder)))
	}
	resume := func(steps int, startAgain func(dir string) string) error {
		s := lineSession(t, io.Discard, steps)
		s.Hints.StartAgain = startAgain
		if err := s.Resume(fmt.Sprint(steps), "", io.Discard); err != nil {
			return err
		}
		require.Zero(t, s.Loop.Steps())
		return s.Folder.Close()
	}
	from := func(dir string) string { return "--from " + dir }
	runFor(4)
	const want = "--resume: 4: got no checkpoint of a run that has taken 4 steps, want one"
	require.EqualError(t, resume(4, nil), want)
	require.EqualError(t, resume(4, from), want+"; start again with --from 4")
	runFor(2)
	require.ErrorContains(t, resume(2, from), "; start again with --from 2")
	require.NoError(t, os.Remove(filepath.Join("2", settings.ModelFile)))
	require.NoError(t, resume(2, from))
}

// The error of a failed run names the command that resumes it, even if its checkpoints cannot be read.
func TestExplain(t *testing.T) {
	t.Chdir(t.TempDir())
	failed := errors.New("too many open files")
	explain := func(dir string) string {
		s := lineSession(t, io.Discard, 4)
		require.NoError(t, s.Begin(dir))
		defer s.Folder.Close()
		checkpoints := filepath.Join(dir, settings.CheckpointsFolder)
		switch dir {
		case "saved":
			require.NoError(t, s.Train(t.Context()))
		case "removed":
			require.NoError(t, os.RemoveAll(checkpoints))
		case "unread":
			require.NoError(t, os.RemoveAll(checkpoints))
			require.NoError(t, os.WriteFile(checkpoints, nil, 0o644))
		}
		return s.Explain(t.Context(), failed).Error()
	}
	for dir, want := range map[string]string{
		"new":     "; new holds no model",
		"removed": "; removed holds no model",
		"unread": "; the checkpoints of unread cannot be read; once they can, resume with: " +
			"attention fit --resume unread",
		"saved": "; resume from saved/checkpoints/step-00000004.safetensors with: attention fit --resume saved",
	} {
		require.Equal(t, failed.Error()+want, explain(dir))
	}
}
