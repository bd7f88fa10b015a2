package main

import (
	"errors"
	"fmt"
	"strings"

	"attention/layers"
	"attention/train"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const trainHelp = `Train a small language model of characters on a text: token and position
embeddings, one attention layer of the chosen variant, and a projection to the
scores of the next character.

Without --text it learns from a text about attention that is part of the program.
The first nine tenths of a text are trained on, the last tenth is for validation.
Losses are in nats per character. Beside them stands what counting achieves on the
same validation text: single characters (unigram) and pairs of them (bigram). The
attention layer is all that brings in characters before the last one, so what is
below the bigram's loss is what it has learnt.

The layers causal, multi_head_wrapper and multi_head learn from every position of a
window of the text. The others let each character see the whole window, so that
only the character after it is left to learn from: they get more and shorter windows.

The run folder gets model.safetensors, config.json, metrics.jsonl, loss.png,
attention.png and a folder of checkpoints. The same flags and seed give the same
model, bit for bit.

Ctrl-C finishes the step, saves a checkpoint and what the run has learnt, says how to
go on and exits with 130. A run that was stopped so, killed or cut off from its
machine goes on with --resume from its newest checkpoint, and then ends with the same
bits, in metrics.jsonl too (but for tokens_per_second), as if nothing had happened.
Its config.json says all that the flags said; only --steps, --save-every, --keep,
--prompt and --sample, and --text if the file has moved, may be given anew. More
--steps than the decay of the learning rate has are taken at --min-lr.

A checkpoint holds a checksum of itself; one that is damaged is never gone on from.
A loss or weight that is NaN or infinite stops a run before it is saved. One process
at a time works in a run folder.`

const trainExample = `  attention train
  attention train --text novel.txt --layer causal --width 96 --steps 10000 --out runs/novel
  attention train --solver sgd --momentum 0.9
  attention train --resume runs/1
  attention train --resume runs/1 --steps 4000`

func newTrainCommand() *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:     "train",
		Short:   "Train a small language model with one attention layer on a text",
		Long:    trainHelp,
		Example: trainExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("train: got %q, want only flags; a text is named by --text", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := cmd.Flags().Changed
			if given("resume") {
				if err := checkBesideResume(cmd.Flags()); err != nil {
					return err
				}
				return resumeTrain(cmd.Context(), cmd.OutOrStdout(), o, given)
			}
			if err := o.settle(given); err != nil {
				return err
			}
			return runTrain(cmd.Context(), cmd.OutOrStdout(), o)
		},
	}
	cmd.SetFlagErrorFunc(flagError)
	o.addFlags(cmd.Flags())
	return cmd
}

// addFlags declares the flags. Those whose default depends on others are 0 here.
func (o *trainOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.text, "text", "", "UTF-8 `file` to learn from (default the text in the program)")
	f.StringVar(&o.out, "out", "", "run `folder`, new or empty (default the first new one of runs/1, runs/2, …)")
	f.StringVar(&o.resume, "resume", "", "run `folder`, or one of its checkpoints, to go on with instead of beginning a run")
	f.StringVar(&o.init, "init", "", "safetensors `file` with the weights to begin with, such as another run's model.safetensors")

	f.StringVar(&o.layer, "layer", layers.MultiHead, "attention `variant`: "+strings.Join(layers.Variants(), ", "))
	f.IntVar(&o.width, "width", 64, "width of the embeddings and of the attention layer, all heads together")
	f.IntVar(&o.heads, "heads", 4, "heads of multi_head and multi_head_wrapper, a divisor of the width; the others have one")
	f.IntVar(&o.context, "context", 0, fmt.Sprintf("characters of a window (default %d; %d for layers that see the whole window)",
		causalContext, wholeContext))
	f.BoolVar(&o.qkvBias, "qkv-bias", false, "add biases to the query, key and value projections; simple, self_v1 and additive have none")
	f.Float64Var(&o.dropout, "dropout", 0, "`probability` in [0, 1) that training drops an attention weight; causal layers only")
	f.StringVar(&o.dtype, "dtype", "float32", "element `type`: float32 or float64")

	f.IntVar(&o.steps, "steps", 2000, "training steps")
	f.IntVar(&o.batch, "batch", 0, fmt.Sprintf("windows of a batch (default %d; %d for layers that see the whole window)",
		causalBatch, wholeBatch))
	f.IntVar(&o.accumulate, "accumulate", 1, "batches of a step, which counts them as one large batch that need not fit in memory")
	f.StringVar(&o.order, "order", randomOrder, "`order` of the windows: random, or sequential through the text, again and again")
	f.StringVar(&o.solver, "solver", train.AdamW, "`name` of the solver: sgd, adam or adamw")
	f.Float64Var(&o.rate, "lr", 0, fmt.Sprintf("peak learning `rate`, after a linear warm-up and before a cosine decay (default %v; %v for sgd)",
		adamRate, sgdRate))
	f.Float64Var(&o.floor, "min-lr", 0, "learning `rate` that the decay ends with (default a tenth of --lr)")
	f.IntVar(&o.warmup, "warmup", 0, "`steps` of the warm-up (default a twentieth of --decay-steps, at most 100)")
	f.IntVar(&o.decaySteps, "decay-steps", 0, "`steps` of warm-up and decay together (default --steps); those after them have --min-lr")
	f.Float64Var(&o.beta1, "beta1", 0.9, "decay rate of adam's and adamw's average of the gradient")
	f.Float64Var(&o.beta2, "beta2", 0.999, "decay rate of adam's and adamw's average of the gradient's square")
	f.Float64Var(&o.eps, "eps", 1e-8, "what adam and adamw add to the root of that average")
	f.Float64Var(&o.momentum, "momentum", 0, "momentum of sgd, in [0, 1)")
	f.Float64Var(&o.decay, "weight-decay", 0, "weight decay of all matrices")
	f.Float64Var(&o.clip, "clip", 1, "limit of the `norm` of all gradients together; 0 means none")
	f.Int64Var(&o.seed, "seed", 1, "seed of initial weights, batches, dropout and sample")

	f.IntVar(&o.evalEvery, "eval-every", 200, "steps between validations; 0 means only one, at the end")
	f.IntVar(&o.saveEvery, "save-every", 500, "steps between checkpoints; 0 means only one, at the end or when the run is stopped")
	f.IntVar(&o.keep, "keep", 2, "newest checkpoints that stay")
	f.StringVar(&o.prompt, "prompt", "", "`text` that the sample continues (default the beginning of the validation text)")
	f.IntVar(&o.sample, "sample", 300, "characters of the sample; 0 means none")
}

// flagError says of a value that is no number which flag it was given to.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("train: %w; see attention train --help", err)
	}
	want := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false"}
	f := invalid.GetFlag()
	return fmt.Errorf("--%s: got %q, want %s", f.Name, invalid.GetValue(), want[f.Value.Type()])
}
