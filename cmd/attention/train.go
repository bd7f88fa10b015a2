package main

import (
	"fmt"
	"strings"

	"attention/layers"
	"attention/train"

	"github.com/spf13/cobra"
)

// trainOptions are the flags of attention train.
type trainOptions struct {
	text, out, prompt            string
	layer, solver, dtype         string
	width, heads, context, batch int
	steps, evalEvery, sample     int
	seed                         int64
	rate, momentum, decay        float64
	dropout, clip                float64
	qkvBias                      bool
}

func newTrainCommand() *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train a small language model with one attention layer on a text",
		Long: `Train a small character-level language model: token and position embeddings, one
attention layer of the chosen variant, and a projection to the next character.

Without --text it learns from a text about attention that is part of the program.
The first nine tenths of the text are trained on, the rest is the validation split.
Losses are in nats per character, with what counting single characters (unigram)
and pairs of characters (bigram) achieves on the same validation split beside them.

The layers causal, multi_head_wrapper and multi_head learn from every position of a
window. The others see the whole window, so only the character after it is asked
for: one target a window, which learns slowly; give them more --steps.

The run folder holds model.safetensors, config.json, metrics.jsonl, loss.png and
attention.png. The same flags and seed give the same model, bit for bit.`,
		Example: `  attention train
  attention train --text novel.txt --layer causal --width 96 --steps 4000 --out runs/novel
  attention train --solver sgd --lr 0.5 --momentum 0.9`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("lr") && o.solver == train.SGD {
				o.rate = sgdRate
			}
			return runTrain(cmd.Context(), cmd.OutOrStdout(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.text, "text", "", "UTF-8 text `FILE` to learn from (default: the text inside the program)")
	f.StringVar(&o.out, "out", "", "run folder `DIR` to make (default: the first free of runs/1, runs/2, …)")
	f.StringVar(&o.layer, "layer", layers.MultiHead, "attention layer: "+strings.Join(layers.Variants(), ", "))
	f.IntVar(&o.width, "width", 64, "width of embeddings and of the attention layer, all heads together")
	f.IntVar(&o.heads, "heads", 4, "heads of multi_head and multi_head_wrapper; a divisor of the width")
	f.IntVar(&o.context, "context", 64, "characters that the model sees at once")
	f.BoolVar(&o.qkvBias, "qkv-bias", false, "a bias in the query, key and value projections")
	f.Float64Var(&o.dropout, "dropout", 0, "dropout of the attention weights of the causal layers, in [0, 1)")
	f.IntVar(&o.batch, "batch", 16, "windows in a batch")
	f.IntVar(&o.steps, "steps", 2000, "training steps")
	f.StringVar(&o.solver, "solver", train.AdamW, "solver: sgd, adam or adamw")
	f.Float64Var(&o.rate, "lr", 0.005, fmt.Sprintf("peak learning rate, after warm-up and before cosine decay to a tenth (sgd: %v)", sgdRate))
	f.Float64Var(&o.momentum, "momentum", 0, "momentum of sgd, in [0, 1)")
	f.Float64Var(&o.decay, "weight-decay", 0, "weight decay")
	f.Float64Var(&o.clip, "clip", 1, "limit of the gradients' global norm; 0 means none")
	f.IntVar(&o.evalEvery, "eval-every", 200, "steps between evaluations; 0 means only at the end")
	f.Int64Var(&o.seed, "seed", 1, "seed of initial weights, batches, dropout and sampling")
	f.StringVar(&o.dtype, "dtype", "float32", "element type: float32 or float64")
	f.StringVar(&o.prompt, "prompt", "", "beginning of the sampled text (default: the start of the validation split)")
	f.IntVar(&o.sample, "sample", 300, "characters to sample at the end")
	return cmd
}

// sgdRate is the default learning rate of sgd, which wants larger ones than Adam.
const sgdRate = 0.5

// modelConfig sizes the model for a vocabulary of size V.
func (o trainOptions) modelConfig(vocabulary int) layers.LanguageModelConfig {
	a := layers.VariantConfig{Layer: o.layer, DIn: o.width}
	switch o.layer {
	case layers.Additive:
		a = layers.VariantConfig{Layer: o.layer, DQuery: o.width, DKey: o.width, DAttn: o.width}
	case layers.MultiHeadWrapper:
		a.DOut = o.width / max(o.heads, 1)
	case layers.Simple:
	default:
		a.DOut = o.width
	}
	if a.Causal() {
		a.ContextLength, a.Dropout = o.context, o.dropout
	}
	if a.Causal() || o.layer == layers.SelfV2 {
		a.QKVBias = o.qkvBias
	}
	if o.layer == layers.MultiHead || o.layer == layers.MultiHeadWrapper {
		a.NumHeads = o.heads
	}
	return layers.LanguageModelConfig{Vocab: vocabulary, Context: o.context, Width: o.width, Attention: a}
}

// loopConfig says how to train.
func (o trainOptions) loopConfig() train.Config {
	return train.Config{
		Steps:  o.steps,
		Solver: train.SolverConfig{Name: o.solver, Momentum: o.momentum, WeightDecay: o.decay, Decay: train.DecayMatrices},
		Schedule: train.ScheduleConfig{Cosine: train.Cosine{
			Peak: o.rate, Floor: o.rate / 10, WarmupSteps: min(o.steps/20, 100), Steps: o.steps}},
		ClipNorm:  o.clip,
		Seed:      o.seed,
		EvalEvery: o.evalEvery,
	}
}

// validate refuses what the configs made of the options would not notice.
func (o trainOptions) validate() error {
	if o.layer == layers.MultiHeadWrapper && (o.heads < 1 || o.width%o.heads != 0) {
		return fmt.Errorf("--heads: got %d, want a divisor of --width %d", o.heads, o.width)
	}
	if !(o.dropout >= 0 && o.dropout < 1) {
		return fmt.Errorf("--dropout: got %v, want 0 <= p < 1", o.dropout)
	}
	if o.dropout > 0 && !(layers.VariantConfig{Layer: o.layer}).Causal() {
		return fmt.Errorf("--dropout: got %v, want 0: the layer %s has no dropout", o.dropout, o.layer)
	}
	if o.sample < 0 {
		return fmt.Errorf("--sample: got %d, want at least 0", o.sample)
	}
	return nil
}
