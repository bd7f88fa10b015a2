package settings

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"attention/graph"
	"attention/internal/config"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Config is config.json: everything needed to use the model and to repeat or resume the training.
type Config struct {
	Format      int                  `json:"format"`
	Text        TextSource           `json:"text"`
	Vocabulary  text.TokenizerConfig `json:"vocabulary"`
	Model       ModelConfig          `json:"model"`
	Init        *TextSource          `json:"init,omitempty"`   // the initial weights; nil for new ones
	Freeze      []string             `json:"freeze,omitempty"` // patterns of the names of frozen parameters
	Dtype       string               `json:"dtype"`
	Precision   string               `json:"precision,omitempty"` // of the operands of products; empty means full
	Batch       int                  `json:"batch"`
	Order       string               `json:"order"`                    // of the windows to train on
	Epochs      int                  `json:"epochs,omitempty"`         // passes over whole windows; 0: any windows
	Growth      []text.GrowthStage   `json:"context_growth,omitempty"` // short windows at first
	Training    loop.Config          `json:"training"`                 // its seed is that of the whole run
	Checkpoints checkpoint.Config    `json:"checkpoints"`
	EvalBatches int                  `json:"eval_batches"` // random ones of an evaluation; 0 means all
	Sample      SampleConfig         `json:"sample"`
	HeadStats   bool                 `json:"head_stats,omitempty"` // whether records have statistics of each head
	// CheckpointActivations makes the backward pass compute again what is in each block.
	CheckpointActivations bool        `json:"checkpoint_activations,omitempty"`
	Tuning                *Tuning     `json:"tuning,omitempty"` // of a run of attention finetune; nil for others
	NGram                 *text.NGram `json:"ngram,omitempty"`  // nil for a large vocabulary
	// Kernels names the kernels that trained last. It is not a setting: it is stored because other kernels give other last
	// digits.
	Kernels string `json:"kernels,omitempty"`
}

// SampleConfig describes the text that a run prints at its end.
type SampleConfig struct {
	Tokens int    `json:"tokens"`           // to draw; 0 means no sample
	Prompt string `json:"prompt,omitempty"` // to continue; empty means the first words of the validation split
}

// Validate returns an error for the first wrong field.
func (c Config) Validate() error {
	if c.Model.Dates != nil {
		return cmp.Or(config.AtLeast(c, 1, "Training.Steps", "Batch"), c.ValidateModel(), c.validateSizes())
	}
	if err := cmp.Or(
		c.ValidateModel(),
		c.validateSources(),
		config.In(c, "Tuning", c.Tuning.Validate()),
		config.AtLeast(c, 1, "Batch"),
		config.AtLeast(c, 0, "Epochs"), config.AtMost(c, math.MaxInt32, "Epochs"),
		config.OneOf(c, "Order", c.Order, text.RandomOrder, text.SequentialOrder),
		config.In(c, "Training", c.Training.Validate()),
		c.validateGrowth(),
		config.In(c, "Checkpoints", c.Checkpoints.Validate()),
		config.AtLeast(c, 0, "EvalBatches", "Sample.Tokens"),
		config.AtMost(c, math.MaxInt32, "Sample.Tokens"),
		c.validateWritten(),
		c.validateBlocks(),
	); err != nil {
		return err
	}
	return cmp.Or(c.validateSizes(), c.validateParams())
}

// ValidateModel returns an error for the first wrong field among those needed to use the model.
func (c Config) ValidateModel() error {
	if c.Model.Dates != nil {
		return config.In(c, "Model", c.Model.Validate())
	}
	_, dtype := c.TensorType()
	_, precision := c.ProductPrecision()
	return cmp.Or(config.In(c, "Vocabulary", c.Vocabulary.Validate()), config.In(c, "Model", c.Model.Validate()), dtype,
		precision)
}

// TensorType returns the element type of the model.
func (c Config) TensorType() (tensor.Dtype, error) {
	switch c.Dtype {
	case "float32":
		return tensor.Float32, nil
	case "float64":
		return tensor.Float64, nil
	}
	return tensor.Dtype{}, config.OneOf(c, "Dtype", c.Dtype, "float32", "float64")
}

// ProductPrecision returns the precision of the products.
func (c Config) ProductPrecision() (graph.Precision, error) {
	p, err := graph.ParsePrecision(cmp.Or(c.Precision, "full"))
	if err != nil {
		return p, config.OneOf(c, "Precision", c.Precision, "full", "bf16")
	}
	if p != graph.FullPrecision && c.Dtype != "float32" {
		return p, config.Errorf(c, "Precision", "got %v of %s, want it of float32", p, c.Dtype)
	}
	return p, nil
}

func (c Config) validateSources() error {
	if c.Text.Name == "" {
		return config.Errorf(c, "Text.Name", "got none, want a file or %q", BuiltinName)
	}
	if c.Init != nil && c.Init.Name == "" {
		return config.Errorf(c, "Init.Name", "got none, want a file or a folder")
	}
	return nil
}

// validateWritten returns an error for a 0 that would mean a default: a run's config contains the number itself.
func (c Config) validateWritten() error {
	err := config.AtLeast(c, 1, "Training.Accumulate", "Checkpoints.Keep")
	if s := c.Training.Solver; s.Name != train.SGD {
		in := "Training.Solver."
		err = cmp.Or(err, above0(c, in+"Beta1", s.Beta1), above0(c, in+"Beta2", s.Beta2), above0(c, in+"Eps", s.Eps))
	}
	if m := c.Model.GPT; m != nil { // a decoder's parts have defaults of their own
		err = cmp.Or(err, config.In(c, "Model", above0(*m, "Eps", m.Eps)))
	}
	return err
}

// validateGrowth returns an error for stages of windows that the model or the run cannot have.
func (c Config) validateGrowth() error {
	if len(c.Growth) == 0 {
		return nil
	}
	return c.Sources().Validate()
}

// validateBlocks returns an error for the checkpoints of blocks of a model that has none.
func (c Config) validateBlocks() error {
	if c.CheckpointActivations && c.Model.Layer != nil {
		return config.Errorf(c, "CheckpointActivations", "got %s, which has no blocks, want a %s",
			c.Model.Title(), GPTModel)
	}
	return nil
}

func above0(c any, field string, got float64) error {
	if got > 0 {
		return nil
	}
	return config.Errorf(c, field, "got %v, want a number above 0", got)
}

// validateBeforeText is Validate for a config without the fields that reading the text sets.
func (c Config) validateBeforeText() error {
	if c.Vocabulary.Name == text.Characters && c.Vocabulary.Characters == "" {
		c.Vocabulary.Characters = "a"
	}
	var err error
	if c.Model, err = c.Model.withVocabulary(1, "token"); err != nil {
		return config.In(c, "Model", err)
	}
	return c.Validate()
}

// Sources returns the settings of a run's batches. For a model that is not causal, only the token after a window is a
// target.
func (c Config) Sources() text.SourcesConfig {
	return text.SourcesConfig{Order: c.Order, WholeEpochs: c.Epochs > 0, EvalBatches: c.EvalBatches,
		Seed: c.Training.Seed, Growth: c.Growth, Accumulate: c.Training.Accumulate,
		Windows: text.WindowConfig{Batch: c.Batch, Context: c.Model.Context(), LastOnly: !c.Model.Causal()}}
}

// epochSteps returns the steps of all epochs, at least 1.
func (c Config) epochSteps(k *Corpus) (int, error) {
	e, err := text.NewEpochs(k.Training, c.Sources().Windows, text.EpochsConfig{})
	if err != nil {
		return 0, err
	}
	return max(1, c.Epochs*e.Batches()/c.Training.Accumulate), nil
}

// withText returns the config of a run on a text.
func (c Config) withText(k *Corpus) (Config, error) {
	model, err := c.Model.withVocabulary(k.Tokenizer.Len(), k.Unit())
	if err != nil {
		return c, config.In(c, "Model", err)
	}
	c.Text, c.Vocabulary, c.NGram, c.Model = k.Source, k.Tokenizer.Config(), k.NGram, model
	return c, c.Validate()
}

// Format is the number of the form of a run's config.json.
const Format = 2

// CheckFormat returns an error for another format than this program's.
func CheckFormat(got any) error {
	if fmt.Sprint(got) == strconv.Itoa(Format) {
		return nil
	}
	return fmt.Errorf("format: got %v, want %d: another program wrote the run, and this one does not read it",
		cmp.Or[any](got, "none"), Format)
}
