package run

import (
	"attention/layers"
	"attention/train/pretrained"
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

// Exported is GPT for a model that may also be one that gives texts classes.
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

// Spec is everything in the folder of a GPT or another decoder except the weights.
type Spec struct {
	Model     ModelConfig
	Dtype     tensor.Dtype
	Tokenizer text.Tokenizer // nil if the folder does not name one
}

// Spec returns all of a GPT or another decoder except the weights.
func (in *Inspection) Spec() (Spec, error) {
	if !in.IsRun() {
		f, err := in.pretrained()
		if err != nil {
			return Spec{}, err
		}
		s, err := f.Spec()
		return Spec{modelOf(s.Config), s.Dtype, s.Tokenizer}, err
	}
	if err := in.checkGPT(); err != nil {
		return Spec{}, err
	}
	if in.Config.Tuning != nil {
		return Spec{}, in.errTuned("the whole model")
	}
	identity, err := in.Config.ModelIdentity()
	if err != nil {
		return Spec{}, err
	}
	if err := in.checkModel(identity); err != nil {
		return Spec{}, err
	}
	s := Spec{Model: in.Config.Model}
	if s.Dtype, err = in.Config.TensorType(); err != nil {
		return s, err
	}
	s.Tokenizer, err = in.Config.Vocabulary.Open(in.Dir)
	return s, err
}

// checkGPT returns an error for a run of another model than a GPT, and for one that is not finished.
func (in *Inspection) checkGPT() error {
	if in.Kind != GPTModel && in.Kind != DecoderModel {
		return in.ErrKind("a GPT")
	}
	return in.checkFinished()
}
