package dates

import (
	"fmt"
	"path/filepath"

	"attention/cmd/attention/internal/run"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Model is an encoder and a decoder of dates.
type Model struct {
	Alphabets
	Settings Settings
	Params   *layers.Params
	Network  *layers.Seq2Seq
	Name     string // of the run
	Steps    int    // that the run has taken
}

// NewModel returns a model whose weights are those that its seed draws.
func NewModel(s Settings) (*Model, error) {
	m := &Model{Settings: s, Params: layers.NewParams(tensor.Float32, s.Training.Seed)}
	var err error
	if m.Alphabets, err = NewAlphabets(); err != nil {
		return nil, err
	}
	m.Network, err = layers.NewSeq2Seq(m.Params.Scope(""), s.modelConfig(m.Alphabets))
	return m, err
}

// Read reads the model of a run folder: that of the newest checkpoint if the run is not finished.
func Read(dir string) (*Model, error) {
	m, err := open(dir)
	if err != nil {
		return nil, err
	}
	if all := run.Unfinished(dir); len(all) > 0 {
		return m, m.readCheckpoint(dir, all[len(all)-1])
	}
	m.Steps = m.Settings.Training.Steps
	path := filepath.Join(dir, run.ModelFile)
	about, err := train.ReadParams(path, m.Params)
	if err != nil {
		return nil, err
	}
	return m, m.check(dir, path, run.AboutOf(about))
}

// ReadAt reads the model of a run folder as it was at the checkpoint after so many steps.
func ReadAt(dir string, steps int) (*Model, error) {
	m, err := open(dir)
	if err != nil {
		return nil, err
	}
	return m, m.readCheckpoint(dir, steps)
}

// open returns the model of a run folder without its weights.
func open(dir string) (*Model, error) {
	s, err := ReadSettings(dir)
	if err != nil {
		return nil, err
	}
	m, err := NewModel(s)
	if err != nil {
		return nil, err
	}
	m.Name = (&run.Folder{Path: dir}).Name()
	return m, nil
}

func (m *Model) readCheckpoint(dir string, steps int) error {
	path := train.CheckpointPath(filepath.Join(dir, run.CheckpointsFolder), steps)
	c, err := train.ReadCheckpoint(path, m.Params)
	if err != nil {
		return err
	}
	m.Steps = c.Steps
	return m.check(dir, path, c.About)
}

// check returns an error if the parameters, read from the file at path, do not belong to the folder's config.json or
// are no numbers.
func (m *Model) check(dir, path string, about map[string]string) error {
	got, err := m.Settings.About()
	if err != nil {
		return err
	}
	if len(about) > 0 { // a model of an earlier program does not tell
		if err := run.CheckAbout(got, dir, path, about); err != nil {
			return err
		}
	}
	if err := train.CheckFinite(m.Params); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// inputs makes the network's inputs in a graph.
func (m *Model) inputs(b *layers.Build) (source, lengths, target *G.Node) {
	n := m.Settings.Batch
	return b.InputOf(tensor.Int, SourceInput, n, WrittenLength),
		b.InputOf(tensor.Int, LengthsInput, n),
		b.InputOf(tensor.Int, TargetInput, n, ISOLength)
}

// Loss returns the mean cross entropy of the characters of the ISO dates.
func (m *Model) Loss(b *layers.Build) (*G.Node, error) {
	source, lengths, target := m.inputs(b)
	targets := b.InputOf(tensor.Int, TargetsInput, m.Settings.Batch, ISOLength)
	return b.Of(m.Network.Loss(b, source, target, lengths, targets)), b.Err()
}

// One builds the network for one pair whose written date has n characters: it returns the inputs, ids (n) and
// (ISOLength), of which the second begins with the mark, and the logits (ISOLength, V) of the ISO date.
func (m *Model) One(b *layers.Build, n int) (source, target, logits *G.Node) {
	source, target = b.InputOf(tensor.Int, SourceInput, n), b.InputOf(tensor.Int, TargetInput, ISOLength)
	memory := b.Of(m.Network.Encode(b, source, nil))
	return source, target, b.Of(m.Network.Decode(b, target, memory, nil))
}

// String describes the model.
func (m *Model) String() string {
	c := m.Network.Config()
	return fmt.Sprintf("width %d, %d heads, blocks %d + %d",
		c.EmbedDim, c.NumHeads, c.NumEncoderLayers, c.NumDecoderLayers)
}
