package settings

import (
	"encoding/json"

	"attention/internal/config"
	"attention/layers"
	"attention/train/tasks/dates"

	"gorgonia.org/tensor"
)

// Dates is the config of a model that translates dates, with its vocabularies.
type Dates struct {
	dates.Config
	Written string `json:"written_characters"` // of the encoder
	ISO     string `json:"iso_characters"`     // of the decoder
}

// datesDefaults returns the default values of a run of attention translate.
func datesDefaults() Config {
	c := Config{Format: Format, Batch: 64, Model: ModelConfig{Dates: &Dates{
		Config:  dates.Config{EmbedDim: 64, NumHeads: 4, NumLayers: 1},
		Written: dates.WrittenCharacters, ISO: dates.ISOCharacters}}}
	c.Training.Steps, c.Training.Seed = 800, 1
	return c
}

// NewDates returns the model of a run of attention translate, with the weights that its seed draws.
func (c Config) NewDates() (*dates.Model, error) {
	return dates.New(layers.NewParams(tensor.Float32, c.Training.Seed).Scope(""), c.Model.Dates.Config)
}

// validate returns an error for the first wrong field.
func (d Dates) validate() error {
	if d.Written != dates.WrittenCharacters || d.ISO != dates.ISOCharacters {
		return config.Errorf(d, "", "got other characters than this program's, want %q and %q",
			dates.WrittenCharacters, dates.ISOCharacters)
	}
	return d.Config.Validate()
}

// MarshalJSON writes only the fields that a run of attention translate has.
func (c Config) MarshalJSON() ([]byte, error) {
	if c.Model.Dates == nil {
		type plain Config
		return json.Marshal(plain(c))
	}
	type steps struct {
		Steps int   `json:"steps"`
		Seed  int64 `json:"seed"`
	}
	return json.Marshal(struct {
		Format   int         `json:"format"`
		Model    ModelConfig `json:"model"`
		Batch    int         `json:"batch"`
		Training steps       `json:"training"`
	}{c.Format, c.Model, c.Batch, steps{c.Training.Steps, c.Training.Seed}})
}

// datesFlags returns the flags that only attention translate has.
func datesFlags() []flag {
	list := []flag{
		{name: "steps", paths: []string{"training.steps"}, usage: "training steps"},
		{name: "batch", paths: []string{"batch"}, usage: "dates of a step"},
		{name: "width", paths: []string{"model.embed_dim"},
			usage: "width of the embeddings and blocks, all heads together"},
		{name: "heads", paths: []string{"model.num_heads"}, usage: "heads of every attention, a divisor of the width"},
		{name: "blocks", paths: []string{"model.num_layers"}, usage: "blocks of the encoder, and of the decoder"},
		{name: "seed", paths: []string{"training.seed"},
			usage: "seed of the initial weights, of the dates held out and of the batches"},
		{name: "picture", resumed: true,
			usage: "PNG `file` for the cross-attention weights (default: attention.png in the run folder)"},
		{name: "date", usual: []string(nil), resumed: true, usage: "a `date` to translate; may be given again"},
		{name: "model", instead: true, usage: "run `folder` whose model translates --date, without training"},
	}
	for i := range list {
		list[i].of = []string{Translate}
	}
	return list
}
