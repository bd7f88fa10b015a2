package train_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"

	"attention/internal/safetensors"
	"attention/layers"
	"attention/train"
)

// tinyLoop has one parameter of three numbers.
func tinyLoop(t *testing.T, c train.Config) (*train.Loop, layers.Param) {
	p, w := weights(t, "w", 1, 3)
	l, err := train.New(p, func(b *layers.Build) (*G.Node, error) { return G.Sum(G.Must(G.Square(b.Node(w)))) }, c)
	require.NoError(t, err)
	return l, w
}

// Whichever byte of a checkpoint changes, and wherever it is cut short, it is noticed.
func TestEveryDamageIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	c := config()
	c.About = map[string]string{`"sha256":"`: `"sha256":"0000000000000000000000000000000000000000000000000000000000000000"`}
	l, w := tinyLoop(t, c)
	_, err := l.Step(train.Batch{})
	require.NoError(t, err)
	require.NoError(t, l.Save(path, textSources(t)["random"]))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	before := append([]float64{}, w.Value().Float64s()...)
	_, err = l.Step(train.Batch{})
	require.NoError(t, err)
	requireDamaged := func(content []byte, what string, at int) {
		require.NoError(t, os.WriteFile(path, content, 0o644))
		err := l.Restore(path, nil)
		require.ErrorIs(t, err, train.ErrDamaged, "%s byte %d of %d", what, at, len(whole))
		require.ErrorContains(t, err, "train: checkpoint: "+path+": damaged: ")
		require.Equal(t, 2, l.Steps())
	}
	for at := range whole {
		changed := append([]byte{}, whole...)
		changed[at] ^= 1 << (at % 8)
		requireDamaged(changed, "a bit of", at)
		requireDamaged(whole[:at], "cut before", at)
	}
	requireDamaged(append(append([]byte{}, whole...), 0), "longer than", len(whole))

	require.NoError(t, os.WriteFile(path, whole, 0o644))
	require.NoError(t, l.Restore(path, nil))
	require.Equal(t, before, w.Value().Float64s())
	require.Equal(t, 1, l.Steps())
}

func TestDamageSaysWhatItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	l, w := tinyLoop(t, config())
	require.NoError(t, l.Save(path, nil))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)

	require.NoError(t, os.WriteFile(path, whole[:len(whole)-1], 0o644))
	require.ErrorContains(t, l.Restore(path, nil), `but the file holds only 79 bytes of data`)

	changed := append([]byte{}, whole...)
	changed[len(changed)-1] ^= 1
	require.NoError(t, os.WriteFile(path, changed, 0o644))
	require.Regexp(t, `: damaged: checksum: got [0-9a-f]{64}, want [0-9a-f]{64}$`, l.Restore(path, nil).Error())

	require.NoError(t, train.WriteParams(path, layers.NewParams(w.Value().Dtype(), 1), nil))
	require.EqualError(t, l.Restore(path, nil), "train: checkpoint: "+path+`: damaged: checksum: got "", want 64 digits`)

	// Written anew by another program: whole, but not sealed.
	require.NoError(t, os.WriteFile(path, whole, 0o644))
	f, err := safetensors.ReadFile(path)
	require.NoError(t, err)
	f.Metadata["more"] = "words"
	require.NoError(t, safetensors.WriteFile(path, f))
	require.ErrorIs(t, l.Restore(path, nil), train.ErrDamaged)
}
