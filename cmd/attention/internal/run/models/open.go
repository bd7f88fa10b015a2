package models

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/about"
	"attention/internal/oneline"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/pretrained"
	"attention/train/text"
)

// OpenModel is a model that can continue a text.
type OpenModel struct {
	Model     settings.Model
	Tokenizer text.Tokenizer
	EndOfText int            // id; −1 if there is none
	Ends      []int          // ids that end a text, besides EndOfText
	Notes     []string       // about the origin of the weights, to be printed
	Template  *text.Template // of a run of attention finetune, or of an adapter's folder; nil if it has none

	base *Base // of a run of attention finetune
}

// Open reads the model with its weights: a GPT, or the model of a run of attention train, finished or not.
func (in *Inspection) Open() (*OpenModel, error) {
	switch {
	case !in.IsRun() || in.added.dir != "":
		return in.openGPT()
	case in.unfinished:
		return in.openCheckpoint(in.Checkpoints)
	}
	return in.openFinished()
}

// OpenAt reads the model of a run as it was at the checkpoint after n steps.
func (in *Inspection) OpenAt(steps int) (*OpenModel, error) {
	if !in.IsRun() {
		return nil, in.ErrNoRun()
	}
	m, err := in.openCheckpoint([]int{steps})
	if err != nil {
		return nil, err
	}
	m.Notes = nil
	return m, nil
}

// Encode returns the ids of a text in the form in which the model learned texts: with the ids that its tokenizer's file
// puts before and after each, such as Llama's <|begin_of_text|>. An empty text becomes the id that ends a text, if
// there is one.
func (m *OpenModel) Encode(given string) ([]int, error) {
	ids, err := m.Tokenizer.Encode(given)
	if err != nil {
		return nil, err
	}
	if t, ok := m.Tokenizer.(*text.SubwordTokenizer); ok {
		ids = t.WithTemplate(ids)
	}
	if len(ids) == 0 && m.EndOfText >= 0 {
		ids = []int{m.EndOfText}
	}
	return ids, nil
}

// Ids returns the number of ids that both the model and its tokenizer have.
func (m *OpenModel) Ids() int {
	n := m.Tokenizer.Len()
	if d, ok := m.Model.Blocks(); ok { // Gemma's tokenizer has ids for pictures, which its text models lack
		n = min(n, d.VocabSize)
	}
	return n
}

// openGPT reads a GPT that is not a run's, or that has an adapter added.
func (in *Inspection) openGPT() (*OpenModel, error) {
	g, err := in.Exported()
	if err != nil {
		return nil, err
	}
	if g.Tokenizer == nil {
		return nil, fmt.Errorf("%s: config.json: got no vocabulary of a tokenizer known here, "+
			"want \"vocabulary\", a tokenizer.json or GPT-2's %d tokens", in.Dir, text.GPT2EndOfText+1)
	}
	m := &OpenModel{Model: settings.NewDecoder(g.Model), Tokenizer: g.Tokenizer, EndOfText: g.EndOfText, Ends: g.Ends,
		Notes: ignoredKeys(in.Dir, g)}
	if g.ChatTemplate != "" && in.added.dir != "" { // of the adapter's folder
		m.Template, err = text.OpenTemplate(in.Dir, g.ChatTemplate, g.Tokenizer)
	}
	return m, err
}

// NoteIgnored prints a line about ignored keys in a folder's config files, if there are any.
func NoteIgnored(to io.Writer, dir string, g *pretrained.GPT) {
	program.Notes(to, ignoredKeys(dir, g))
}

// PrintCut prints a note if texts of these numbers of tokens are longer than a window.
func PrintCut(to io.Writer, window int, tokens []int) {
	long, longest := 0, 0
	for _, n := range tokens {
		if n > window {
			long, longest = long+1, max(longest, n)
		}
	}
	if long > 0 {
		program.Note(to, "the model's window is %d tokens: the ends of %d of %s are not read; the longest has %d",
			window, long, settings.Count(len(tokens), "text"), longest)
	}
}

func ignoredKeys(dir string, g *pretrained.GPT) []string {
	if len(g.Ignored) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: keys that are ignored: %s", dir, oneline.List(g.Ignored, 10))}
}

// pretrained returns the folder of a model that is no run's.
func (in *Inspection) pretrained() (f *pretrained.Folder, err error) {
	if in.foreign == nil {
		in.foreign, err = pretrained.Parse(in.Dir, in.contents)
	}
	return in.foreign, err
}

func (in *Inspection) readPretrained() (*pretrained.GPT, error) {
	f, err := in.pretrained()
	if err != nil {
		return nil, err
	}
	g, err := f.ReadGPT()
	if err != nil {
		return nil, err
	}
	return g, in.added.add(g)
}

// openCheckpoint reads the model of a run with the weights of readCheckpoints.
func (in *Inspection) openCheckpoint(checkpoints []int) (*OpenModel, error) {
	m, identity, err := in.openBlank()
	if err != nil {
		return nil, err
	}
	m.Notes, err = in.readCheckpoints(checkpoints, m.Model.Params(), identity)
	return m, err
}

// readCheckpoints reads the weights of the newest undamaged checkpoint among those after these steps. It returns notes
// about their origin.
func (in *Inspection) readCheckpoints(checkpoints []int, p *layers.Params, identity map[string]string) (notes []string,
	err error) {
	for _, steps := range slices.Backward(checkpoints) {
		err := in.ReadCheckpoint(steps, p, identity)
		if errors.Is(err, checkpoint.ErrDamaged) && steps != checkpoints[0] {
			notes = append(notes, err.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		notes = append(notes, fmt.Sprintf("the run is not finished: the weights are those of %s", in.checkpointPath(steps)))
		break
	}
	return notes, nil
}

// checkpointPath returns the path of the checkpoint after n steps.
func (in *Inspection) checkpointPath(n int) string {
	return checkpoint.Path(filepath.Join(in.Dir, settings.CheckpointsFolder), n)
}

// ReadCheckpoint reads the weights of the checkpoint after n steps into parameters of this identity.
func (in *Inspection) ReadCheckpoint(n int, p *layers.Params, identity map[string]string) error {
	path := in.checkpointPath(n)
	saved, err := checkpoint.Read(path, p)
	if err != nil {
		return err
	}
	return cmp.Or(about.Check(in.configPath(), path, identity, saved.About), settings.InPart(path, train.CheckFinite(p)))
}

// ReadModel reads the last weights of a run into parameters of this identity.
func (in *Inspection) ReadModel(p *layers.Params, identity map[string]string) error {
	if err := in.checkModel(identity); err != nil {
		return err
	}
	path := filepath.Join(in.Dir, settings.ModelFile)
	_, err := checkpoint.ReadParams(path, p)
	if err == nil {
		err = settings.InPart(path, train.CheckFinite(p))
	}
	if _, ok := errors.AsType[*fs.PathError](err); err == nil || ok || len(in.Checkpoints) == 0 {
		return err
	}
	return fmt.Errorf("%w; write it anew from the last checkpoint with: %s", err, in.resumeCommand())
}

// openFinished reads the model of a run with its last weights.
func (in *Inspection) openFinished() (*OpenModel, error) {
	m, identity, err := in.openBlank()
	if err != nil {
		return nil, err
	}
	return m, in.ReadModel(m.Model.Params(), identity)
}

// checkModel returns an error if the run's model is not of the identity of its config.json.
func (in *Inspection) checkModel(identity map[string]string) error {
	path := filepath.Join(in.Dir, settings.ModelFile)
	saved, err := about.OfModel(in.metadata)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if saved == nil {
		return nil
	}
	if !in.sealed {
		return fmt.Errorf("%s: %w: got no checksum, want one", path, checkpoint.ErrDamaged)
	}
	return about.Check(in.configPath(), path, identity, saved)
}

// openBlank returns the model of a run, without weights, and its identity.
func (in *Inspection) openBlank() (m *OpenModel, identity map[string]string, err error) {
	c, err := in.config()
	if err != nil {
		return nil, nil, err
	}
	if c.Tuning != nil {
		return in.openTuned(c)
	}
	t, err := c.Vocabulary.Open(in.Dir)
	if err == nil {
		m, err = openConfig(c, t)
	}
	if err != nil {
		return nil, nil, settings.InPart(in.configPath(), err)
	}
	identity, err = c.ModelIdentity()
	return m, identity, err
}

// openConfig returns the config's model with its tokenizer, without weights.
func openConfig(c settings.Config, t text.Tokenizer) (*OpenModel, error) {
	dt, err := c.TensorType()
	if err != nil {
		return nil, err
	}
	m := &OpenModel{Tokenizer: t, EndOfText: endOfText(t)}
	m.Model, err = c.Model.New(layers.NewBlankParams(dt).Scope(""))
	return m, err
}

// endOfText returns the id that ends a text; −1 if the tokenizer has none.
func endOfText(t text.Tokenizer) int {
	if t, ok := t.(*text.SubwordTokenizer); ok {
		if id, ok := t.ID(text.EndOfText); ok && t.IsSpecial(id) {
			return id
		}
	}
	return -1
}
