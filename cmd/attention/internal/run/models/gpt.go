package models

import (
	"fmt"

	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/tasks/dates"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// GPT reads a GPT or another decoder with its weights, from a finished run or from a model folder.
func (in *Inspection) GPT() (*pretrained.GPT, error) {
	g, err := in.Exported()
	if err == nil && g.Labels != nil {
		return nil, in.checkWrites()
	}
	return g, err
}

// Exported is GPT for a model that may also classify texts.
func (in *Inspection) Exported() (*pretrained.GPT, error) {
	if !in.IsRun() {
		return in.readPretrained()
	}
	if err := in.checkGPT(); err != nil {
		return nil, err
	}
	m, err := in.openFinished()
	if err != nil {
		return nil, err
	}
	if m.base != nil {
		m.base.GPT.Labels = in.Config.Tuning.Classes
		if in.Config.Tuning.Template != "" {
			m.base.ChatTemplate = m.base.Template.Source
		}
		return m.base.GPT, nil
	}
	model := m.Model.Network.(*layers.Decoder)
	g := &pretrained.GPT{Model: model, Params: model.Params(), Tokenizer: m.Tokenizer, EndOfText: m.EndOfText}
	return g, in.added.add(g)
}

// Spec returns all of a GPT or another decoder except the weights.
func (in *Inspection) Spec() (settings.Spec, error) {
	if !in.IsRun() {
		f, err := in.pretrained()
		if err != nil {
			return settings.Spec{}, err
		}
		s, err := f.Spec()
		return settings.Spec{Model: settings.ModelOf(s.Config), Dtype: s.Dtype, Tokenizer: s.Tokenizer}, err
	}
	if err := in.checkGPT(); err != nil {
		return settings.Spec{}, err
	}
	if in.Config.Tuning != nil {
		return settings.Spec{}, in.errTuned("the whole model")
	}
	identity, err := in.Config.ModelIdentity()
	if err != nil {
		return settings.Spec{}, err
	}
	if err := in.checkModel(identity); err != nil {
		return settings.Spec{}, err
	}
	s := settings.Spec{Model: in.Config.Model}
	if s.Dtype, err = in.Config.TensorType(); err != nil {
		return s, err
	}
	s.Tokenizer, err = in.Config.Vocabulary.Open(in.Dir)
	return s, err
}

// checkGPT returns an error for a run whose model is not a GPT, and for a run that is not finished.
func (in *Inspection) checkGPT() error {
	if in.Kind != settings.GPTModel && in.Kind != settings.DecoderModel {
		return in.ErrKind("a GPT")
	}
	return in.checkFinished()
}

// CheckGPT returns an error naming the flag that makes the weights of a folder unfit for the model of the config, which
// may have fewer positions.
func CheckGPT(c settings.Config, in *Inspection, g *pretrained.GPT) error {
	of := c
	if of.Model = settings.ModelOf(g.Model.Config()); in.IsRun() {
		of.Model = in.Config.Model
	}
	if g.Tokenizer != nil {
		of.Vocabulary = g.Tokenizer.Config()
	}
	return c.CheckFits(of)
}

// OpenDates reads the model of a run of attention translate: as it was at the checkpoint after some steps or, for a
// negative number, the newest. It returns the steps that the model has taken.
func (in *Inspection) OpenDates(at int) (m *dates.Model, steps int, err error) {
	if in.Kind != settings.DatesModel {
		return nil, 0, in.ErrKind("one of attention translate")
	}
	identity, err := in.Config.ModelIdentity()
	if err != nil {
		return nil, 0, err
	}
	if m, err = in.Config.NewDates(); err != nil {
		return nil, 0, err
	}
	if at < 0 && !in.unfinished {
		return m, in.Planned, in.ReadModel(m.Params(), identity)
	}
	if at < 0 {
		at = in.newest()
	}
	return m, at, in.ReadCheckpoint(at, m.Params(), identity)
}

// Copy returns the config's model with its tokenizer and a copy of weights, which may change afterwards.
func Copy(c settings.Config, weights *layers.Params, t text.Tokenizer) (*OpenModel, error) {
	m, err := openConfig(c, t)
	if err != nil {
		return nil, err
	}
	for name, value := range m.Model.Params().All() {
		of, ok := weights.Get(name)
		if !ok {
			return nil, fmt.Errorf("weights: got no %s, want all of the model's", name)
		}
		if err := tensor.Copy(value, of); err != nil {
			return nil, fmt.Errorf("weights: %s: %w", name, err)
		}
	}
	return m, nil
}
