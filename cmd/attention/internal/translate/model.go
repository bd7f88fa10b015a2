package translate

import (
	"fmt"
	"path/filepath"

	"attention/cmd/attention/internal/run"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// dateModel is an encoder and a decoder of dates.
type dateModel struct {
	alphabets
	settings settings
	params   *layers.Params
	network  *layers.Seq2Seq
	name     string // of the run
	steps    int    // that the run has taken
}

func newDateModel(s settings) (*dateModel, error) {
	m := &dateModel{settings: s, params: layers.NewParams(tensor.Float32, s.Training.Seed)}
	var err error
	if m.alphabets, err = newAlphabets(); err != nil {
		return nil, err
	}
	m.network, err = layers.NewSeq2Seq(m.params.Scope(""), s.modelConfig(m.alphabets))
	return m, err
}

// readModel reads the model of a run folder: that of the newest checkpoint if the run is not finished.
func readModel(dir string) (*dateModel, error) {
	s, err := readSettings(dir)
	if err != nil {
		return nil, err
	}
	m, err := newDateModel(s)
	if err != nil {
		return nil, err
	}
	m.name, m.steps = (&run.Folder{Path: dir}).Name(), s.Training.Steps
	path, about := filepath.Join(dir, run.ModelFile), map[string]string{}
	if all := run.Unfinished(dir); len(all) > 0 {
		path = train.CheckpointPath(filepath.Join(dir, run.CheckpointsFolder), all[len(all)-1])
		var c train.Checkpoint
		c, err = train.ReadCheckpoint(path, m.params)
		m.steps, about = c.Steps, c.About
	} else {
		about, err = train.ReadParams(path, m.params)
		about = run.AboutOf(about)
	}
	if err != nil {
		return nil, err
	}
	return m, m.check(dir, path, about)
}

// check returns an error if the parameters, read from the file at path, do not belong to the folder's config.json or
// are no numbers.
func (m *dateModel) check(dir, path string, about map[string]string) error {
	got, err := m.settings.about()
	if err != nil {
		return err
	}
	if len(about) > 0 { // a model of an earlier program does not tell
		if err := run.CheckAbout(got, dir, path, about); err != nil {
			return err
		}
	}
	if err := train.CheckFinite(m.params); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// inputs makes the network's inputs in a graph.
func (m *dateModel) inputs(b *layers.Build) (source, lengths, target *G.Node) {
	n := m.settings.Batch
	return b.InputOf(tensor.Int, sourceInput, n, writtenLength),
		b.InputOf(tensor.Int, lengthsInput, n),
		b.InputOf(tensor.Int, targetInput, n, isoLength)
}

// loss returns the mean cross entropy of the characters of the ISO dates.
func (m *dateModel) loss(b *layers.Build) (*G.Node, error) {
	source, lengths, target := m.inputs(b)
	targets := b.InputOf(tensor.Int, targetsInput, m.settings.Batch, isoLength)
	return b.Of(m.network.Loss(b, source, target, lengths, targets)), b.Err()
}

// title returns the title of a picture of the decoder's last layer.
func (m *dateModel) title() string {
	n := m.settings.Model.Blocks
	return fmt.Sprintf("cross-attention, layer %d of %d, step %d, run %s", n, n, m.steps, m.name)
}
