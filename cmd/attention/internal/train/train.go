// Package train is the command attention train, which trains a language model on a text.
package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/text"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// New returns the command attention train.
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "train",
		Short:   "Train a language model on a text: a GPT, or one attention layer",
		Long:    help,
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("train: got %q, want only flags; a text is named by --text", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, release := term.UntilSignal(cmd.Context(), term.LostSignals()...)
			defer release()
			return term.WithSignal(ctx, o.execute(ctx, cmd.OutOrStdout(), cmd.Flags()))
		},
	}
	cmd.SetFlagErrorFunc(flagError)
	o.addFlags(cmd.Flags())
	return cmd
}

// execute begins or resumes a run.
func (o *options) execute(ctx context.Context, w io.Writer, flags *pflag.FlagSet) error {
	given := flags.Changed
	if given("resume") {
		if err := checkBesideResume(flags); err != nil {
			return err
		}
		return resumeRun(ctx, w, *o, given)
	}
	if err := o.collect(flags); err != nil {
		return err
	}
	if err := o.settle(given); err != nil {
		return err
	}
	return beginRun(ctx, w, *o)
}

// addFlags declares the flags. Those whose default depends on others are 0 here.
func (o *options) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.text, "text", "", "UTF-8 `file` to learn from (default the text in the program)")
	f.StringVar(&o.out, "out", "", "run `folder`, new or empty (default the first new one of runs/1, runs/2, …)")
	f.StringVar(&o.resume, "resume", "", "run `folder`, or one of its checkpoints, to go on with instead of beginning a run")
	f.StringVar(&o.init, "init", "", "safetensors `file` or model folder with the weights to begin with, such as another run's model.safetensors")
	f.StringVar(&o.preset, "preset", "", "`name` of values for flags that are not given: "+presetNames())
	f.StringVar(&o.configFile, "config", "", "JSON `file` with values for flags that are not given, such as another run's config.json")

	f.StringVar(&o.tokenizer, "tokenizer", text.Characters, "`name` of what makes tokens of the text: characters, bytes or gpt2")
	f.StringVar(&o.model, "model", run.LayerModel, "`name` of the model: layer or gpt")
	f.StringVar(&o.layer, "layer", "multi_head", "attention `variant`: "+strings.Join(chapter.Names(), ", "))
	f.IntVar(&o.width, "width", 64, "width of the embeddings and of the attention, all heads together")
	f.IntVar(&o.heads, "heads", 4, "heads of gpt, multi_head and multi_head_wrapper, a divisor of the width; the others have one")
	f.IntVar(&o.context, "context", 0, fmt.Sprintf("tokens of a window (default %d; %d for layers that see the whole window)",
		causalContext, wholeContext))
	f.BoolVar(&o.qkvBias, "qkv-bias", false, "add biases to the query, key and value projections; simple, self_v1 and additive have none")
	f.IntVar(&o.layers, "layers", 4, "blocks of a gpt")
	f.IntVar(&o.kvHeads, "kv-heads", 0, "heads of keys and values of a gpt, a divisor of --heads; 0 means as many")
	f.IntVar(&o.hidden, "hidden", 0, "width within the MLPs of a gpt; 0 means four times --width")
	f.StringVar(&o.activation, "activation", "gelu_new", "`name` of a gpt's activation: gelu (exact), gelu_new (by tanh), relu or silu")
	f.Float64Var(&o.normEps, "norm-eps", 1e-5, "what a gpt's norms add to the variance")
	f.BoolVar(&o.bias, "bias", true, "biases in the linear layers and norms of a gpt")
	f.BoolVar(&o.tie, "tie", true, "a gpt scores tokens with their embeddings")
	f.IntVar(&o.vocab, "vocab", 0, "tokens that the model has room for; 0 means those of the tokenizer")
	f.Float64Var(&o.dropout, "dropout", 0, "`probability` in [0, 1) that training drops an attention weight, in a gpt also the others; causal layers only")
	f.Float64Var(&o.embeddingDropout, "embedding-dropout", 0, "`probability` for the embeddings of a gpt (default --dropout)")
	f.Float64Var(&o.attentionDropout, "attention-dropout", 0, "`probability` for its attention weights (default --dropout)")
	f.Float64Var(&o.residualDropout, "residual-dropout", 0, "`probability` for what its blocks add (default --dropout)")
	f.StringVar(&o.dtype, "dtype", "float32", "element `type`: float32 or float64")

	f.IntVar(&o.steps, "steps", 2000, "training steps")
	f.IntVar(&o.batch, "batch", 0, fmt.Sprintf("windows of a batch (default %d; %d for layers that see the whole window)",
		causalBatch, wholeBatch))
	f.IntVar(&o.accumulate, "accumulate", 1, "batches of a step, which counts them as one large batch that need not fit in memory")
	f.StringVar(&o.order, "order", run.RandomOrder, "`order` of the windows: random, or sequential through the text, again and again")
	f.StringVar(&o.solver, "solver", train.AdamW, "`name` of the solver: sgd, adam or adamw")
	f.Float64Var(&o.rate, "lr", 0, fmt.Sprintf("peak learning `rate`, after a linear warm-up and before a cosine decay (default %v; %v for a gpt, %v for sgd)",
		adamRate, gptRate, sgdRate))
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
	f.IntVar(&o.evalBatches, "eval-batches", 0, "random batches of a validation; 0 means the whole validation text, which the last one always is over")
	f.IntVar(&o.saveEvery, "save-every", 500, "steps between checkpoints; 0 means only one, at the end or when the run is stopped")
	f.IntVar(&o.keep, "keep", 2, "newest checkpoints that stay")
	f.StringVar(&o.prompt, "prompt", "", "`text` that the sample continues (default the beginning of the validation text)")
	f.IntVar(&o.sample, "sample", 300, "tokens of the sample; 0 means none")
}

// flagError names the flag in the error of a value that cannot be parsed.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("train: %w; see attention train --help", err)
	}
	want := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false"}
	f := invalid.GetFlag()
	return fmt.Errorf("--%s: got %q, want %s", f.Name, invalid.GetValue(), want[f.Value.Type()])
}
