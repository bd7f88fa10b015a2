package checkpoint_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/internal/simd"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func TestRestoredLoopGivesTheSameBits(t *testing.T) {
	for name, c := range small.Runs() {
		for order := range small.Texts(t) {
			for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
				t.Run(name+"."+order+"."+dtype.String(), func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
					var all, rest small.Trail
					c.EvalEvery = 3
					all.Follow(&c)
					follow := c.OnStep
					whole, source := small.New(t, dtype, 7, 0.3), small.Texts(t)[order]
					var l *loop.Loop
					c.OnStep = func(s train.StepResult) {
						if follow(s); s.Step == 5 {
							require.NoError(t, checkpoint.Save(l, path, source))
						}
					}
					l = whole.Loop(t, c)
					require.NoError(t, l.Run(context.Background(), source, small.Batches(2)))

					rest.Follow(&c)
					twin, twinSource := small.New(t, dtype, 8, 0.3), small.Texts(t)[order]
					l = twin.Loop(t, c)
					require.NoError(t, small.Restore(l, path, twinSource))
					require.Equal(t, 5, l.Steps())
					require.Equal(t, 3, l.State().Evaluated)
					require.NoError(t, l.Run(context.Background(), twinSource, small.Batches(2)))
					require.Len(t, all, small.Steps+4) // evaluations after 3, 6, 9 and 10
					require.Equal(t, all[6:], rest)
					require.Equal(t, small.Bits(whole.Values()), small.Bits(twin.Values()))
				})
			}
		}
	}
}

// A loop may also restore an older state; its evaluation graph then uses this state, too.
func TestRestoreGoesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
	m := small.New(t, tensor.Float32, 7, 0.3)
	l := m.Loop(t, small.Config())
	require.NoError(t, checkpoint.Save(l, path, nil))
	start := small.Bits(m.Values())
	e := must(l.Evaluate(context.Background(), small.Batches(2)))
	require.NoError(t, l.Run(context.Background(), small.Batches(small.Steps), nil))
	trained := small.Bits(m.Values())
	require.NoError(t, small.Restore(l, path, nil))
	require.Equal(t, start, small.Bits(m.Values()))
	require.Equal(t, e, must(l.Evaluate(context.Background(), small.Batches(2))))
	require.NoError(t, l.Run(context.Background(), small.Batches(small.Steps), nil))
	require.Equal(t, trained, small.Bits(m.Values()))
}

func TestCheckpointFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "checkpoint.safetensors")
	c := small.Runs()["all.adamw"]
	c.About = map[string]string{"model": `{"width": 6}`, "sha256": "of the text"}
	m := small.New(t, tensor.Float32, 7, 0.3)
	// A parameter with a name that would be the solver's if there were no prefixes.
	step := must(m.Params.Scope("solver").Param("step", layers.Constant(3), 1))
	require.NoError(t, m.Params.Freeze("solver"))
	l := m.Loop(t, c)
	for n := range 2 {
		must(l.Step(small.Batch(uint64(n)), small.Batch(7), small.Batch(8)))
	}
	source := small.Texts(t)["in order"]
	must(source.Next())
	require.NoError(t, checkpoint.Save(l, path, source))
	f := must(safetensors.ReadFile(path))
	require.Len(t, f.Tensors, 10+9+9+1)
	for name, v := range m.Params.All() {
		saved, ok := f.Get("params." + name)
		require.True(t, ok, name)
		require.Equal(t, []int(v.Shape()), saved.Shape)
		require.Equal(t, v.Float32s(), saved.Data)
	}
	steps, _ := f.Get("solver.step")
	require.Equal(t, []int64{2}, steps.Data)
	first, _ := f.Get("solver.exp_avg.output.bias")
	require.Len(t, first.Data, small.Vocabulary)
	require.Equal(t, "attention checkpoint 3", f.Metadata["format"])
	require.Equal(t, `{"width": 6}`, f.Metadata["about.model"])
	require.Len(t, f.Metadata, 4)
	var saved struct {
		Steps, Evaluated, Observed int
		Config                     loop.Config
		Source                     []byte
		Kernels, Precision         string
	}
	require.NoError(t, json.Unmarshal([]byte(f.Metadata["state"]), &saved))
	require.Equal(t, [3]int{2, 0, -1}, [3]int{saved.Steps, saved.Evaluated, saved.Observed})
	require.Equal(t, []byte{7: 15}, saved.Source, "position 15 in the text")
	require.Equal(t, [2]string{simd.InstructionSet(), "full"}, [2]string{saved.Kernels, saved.Precision})
	saved.Config.About = c.About
	require.Equal(t, c, saved.Config)

	step.Value().Float32s()[0] = 4
	require.NoError(t, small.Restore(l, path, nil))
	require.Equal(t, []float32{3}, step.Value().Float32s())

	// Equal loops give equal files, and no other files remain beside them.
	before := must(os.ReadFile(path))
	require.NoError(t, checkpoint.Save(l, path, source))
	require.Equal(t, before, must(os.ReadFile(path)))
	require.Len(t, must(os.ReadDir(dir)), 1)
}

// A loop reports if another program wrote its checkpoint, because the coming bits would differ.
func TestRestoredByAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
	c := small.Runs()["all.adamw"]
	c.Accumulate = 4
	l := small.New(t, tensor.Float32, 7, 0.3).Loop(t, c)
	must(l.Step(small.Batch(1), small.Batch(2), small.Batch(3), small.Batch(4)))
	require.NoError(t, checkpoint.Save(l, path, nil))
	f := must(safetensors.ReadFile(path))
	for _, row := range []struct {
		key, value string
		want       checkpoint.Restored
	}{
		{key: "kernels", value: simd.InstructionSet()},
		{key: "kernels", value: "sve", want: checkpoint.Restored{Kernels: "sve"}},
		{key: "precision", value: "bf16", want: checkpoint.Restored{Precision: "bf16"}},
	} {
		changed := &safetensors.File{Metadata: maps.Clone(f.Metadata), Tensors: f.Tensors}
		small.SetState(changed, row.key, `"`+row.value+`"`)
		require.NoError(t, folder.WriteFile(path, func(w io.Writer) error { return safetensors.WriteSealed(w, changed) }))
		require.Equal(t, &row.want, must(checkpoint.Restore(l, path, nil)))
	}
}

func TestReadCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	saver := small.New(t, tensor.Float64, 7, 0)
	c := small.Config()
	c.About = map[string]string{"model": "small"}
	l := saver.Loop(t, c)
	must(l.Step(small.Batch(0)))
	require.NoError(t, checkpoint.Save(l, path, nil))
	m := small.New(t, tensor.Float64, 8, 0)
	require.Equal(t, checkpoint.Checkpoint{Steps: 1, About: c.About}, must(checkpoint.Read(path, m.Params)))
	require.Equal(t, small.Bits(saver.Values()), small.Bits(m.Values()))

	m = small.New(t, tensor.Float32, 8, 0)
	before := small.Bits(m.Values())
	_, err := checkpoint.Read(path, m.Params)
	require.ErrorContains(t, err, "train: checkpoint: "+path+": params.")
	require.ErrorContains(t, err, " is float64 (11, 6), want float32 (11, 6)")
	content := must(os.ReadFile(path))
	content[len(content)-1] ^= 1
	require.NoError(t, os.WriteFile(path, content, 0o644))
	_, err = checkpoint.Read(path, m.Params)
	require.ErrorIs(t, err, checkpoint.ErrDamaged)
	require.Equal(t, before, small.Bits(m.Values()))
}
