package models

import (
	"fmt"
	"io"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/config"
	"attention/layers"
	"attention/layers/generate"

	"github.com/spf13/pflag"
)

// SamplingOptions names the model that draws tokens, and how it draws them.
type SamplingOptions struct {
	Source
	Accept    func(*Inspection) error // of the newest run; nil accepts those whose models write
	Sampling  generate.Config
	precision string
}

// DirFlag defines the flags of the model.
func (o *SamplingOptions) DirFlag(f *pflag.FlagSet) {
	f.StringVar(&o.Dir, "model", "",
		"`folder` of the model (default: that of the newest run in runs that fits)")
	o.Flags(f)
}

// SamplingFlags defines the flags of how tokens are drawn.
func (o *SamplingOptions) SamplingFlags(f *pflag.FlagSet) {
	f.Float64Var(&o.Sampling.Temperature, "temperature", 0.8,
		"divisor of the scores before a token is drawn; 0 always takes the most likely token")
	f.IntVar(&o.Sampling.TopK, "top-k", 0, "draw from this number of the most likely tokens; 0 means all")
	f.Float64Var(&o.Sampling.TopP, "top-p", 0,
		"draw from the fewest tokens that together have this `probability`; 0 and 1 mean all")
	f.Float64Var(&o.Sampling.MinP, "min-p", 0,
		"draw from the tokens that have this `share` of the most likely one's probability; 0 means all")
	f.Float64Var(&o.Sampling.RepetitionPenalty, "repetition-penalty", 1,
		"`divisor` of the scores of tokens that the text has, a factor of those below 0; 1 means none")
	f.Int64Var(&o.Sampling.Seed, "seed", 1, "seed of the draws")
	f.IntVar(&o.Sampling.Capacity, "context", 0,
		"largest number of tokens that the model sees at once; 0 means its whole window")
	f.StringVar(&o.precision, "precision", "full", flags.PrecisionUsage)
}

// Validate returns an error that names the first wrong flag.
func (o *SamplingOptions) Validate() (err error) {
	if o.Sampling.Precision, err = flags.Precision(o.precision); err != nil {
		return err
	}
	return NamedSampling(o.Sampling.Validate())
}

// NamedSampling returns an error about a field of the sampling's config with its flag.
func NamedSampling(err error) error { return config.Named(err, samplingFlags) }

var samplingFlags = map[string]string{"Capacity": "--context", "Temperature": "--temperature", "TopK": "--top-k",
	"TopP": "--top-p", "MinP": "--min-p", "RepetitionPenalty": "--repetition-penalty"}

// Open reads the model, or the newest run of these kinds, and prints notes about it, such as the run's name. Only ids
// of its tokenizer will be drawn.
func (o *SamplingOptions) Open(notes io.Writer, kinds ...string) (*OpenModel, error) {
	if o.Accept == nil {
		o.Accept = (*Inspection).checkWrites
	}
	in, err := o.inspect(notes, o.Accept, kinds...)
	if err != nil {
		return nil, err
	}
	o.Dir = in.Dir
	if err := in.checkWrites(); err != nil {
		return nil, fmt.Errorf("--model: %w", err)
	}
	m, err := in.Open()
	if err != nil {
		return nil, in.Named(err)
	}
	if err := flags.CheckPrecision(o.Sampling.Precision, m.Model.Params().Dtype()); err != nil {
		return nil, err
	}
	program.Notes(notes, m.Notes)
	o.Sampling.VocabSize = m.Ids()
	return m, nil
}

// NewGenerator returns a generator whose memory is first that for a text of up to length tokens. When a decoder's text
// fills its positions, or c.Capacity, the text continues from its last half window.
func NewGenerator(m settings.Model, c generate.Config, length int) (*generate.Generator, error) {
	if decoder, ok := m.Network.(*layers.Decoder); ok {
		c.Room, c.Slide = length, true
		return generate.New(decoder, c)
	}
	return generate.NewWithoutCache(m, m.Context(), c)
}

// NewBatch is NewGenerator for several texts of up to length tokens each, of a decoder.
func NewBatch(m settings.Model, texts int, c generate.Config, length int) (*generate.Batch, error) {
	decoder, ok := m.Network.(*layers.Decoder)
	if !ok {
		return nil, fmt.Errorf("got %d texts of a model of one layer, want one: only a GPT continues several at once",
			texts)
	}
	c.Room, c.Slide = length, true
	return generate.NewBatch(decoder, texts, c)
}
