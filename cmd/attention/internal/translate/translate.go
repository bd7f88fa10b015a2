// Package translate is the command attention translate, which trains an encoder and a decoder to translate dates.
package translate

import (
	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/term"
	"attention/cmd/attention/internal/translations"

	"github.com/spf13/cobra"
)

const help = `Train a transformer's encoder and decoder to translate dates as people write
them into ISO 8601, character by character:

  wednesday, 3 september 1975     1975-09-03
  9/3/75                          1975-09-03

The decoder attends to the characters that it has written and, by
cross-attention, to the encoder's output for the written date. The dates are
those of the years 1950 to 2049, in ten styles. 2000 of the dates are held out:
the model never learns from them, in any style. The table shows the mean cross
entropy, in nats per character, over the last training steps and over the
held-out dates. These are then translated greedily, by the likeliest character
each time. A translation is right if all its ten characters are.

--date translates your date: at most 28 letters from a to z, digits, blanks and
',./ (capitals become small letters). A text without a day and a year in digits
is not a date: a line says so, and its translation means nothing.

The run folder gets model.safetensors, config.json, report.json, metrics.jsonl,
the records of the weights as in attention train (watch.jsonl,
watch.safetensors, weights.png, attention-steps.png), checkpoints and
attention.png: where each head of the decoder's last layer attends while it
writes the first --date, or a held-out date. --picture writes this picture to
another file instead. --model translates with the model of a run, without
training.

Ctrl-C finishes the step, saves a checkpoint, prints how to resume and exits
with 130. A kill, and the end of the terminal or of a program that reads the
output, do the same. --resume continues a stopped run from its newest
checkpoint, with the same bits as without the stop.

The same flags and seed give the same model, bit for bit, on processors with the
same kernels (AVX-512, AVX2, NEON or none).`

const example = `  attention translate
  attention translate --picture weights.png
  attention translate --out runs/dates --date "Tuesday, 6 August 1963"
  attention translate --resume runs/dates
  attention translate --model runs/dates --date "8/6/63" --date "6 aug '63"
  attention translate --blocks 2 --steps 1000 --seed 7`

// New returns the command attention translate.
func New() *cobra.Command {
	o := options{settings: translations.NewSettings()}
	cmd := &cobra.Command{
		Use:     "translate",
		Short:   "Train an encoder and a decoder to translate dates",
		Long:    help,
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(cmd.Flags().Changed); err != nil {
				return err
			}
			o.command = flags.CommandLine("translate", cmd.Flags())
			ctx, release := term.UntilSignal(cmd.Context(), term.LostSignals()...)
			defer release()
			return term.WithSignal(ctx, o.execute(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.settings.Training.Steps, "steps", 800, "training steps")
	f.IntVar(&o.settings.Batch, "batch", 64, "dates of a step")
	f.IntVar(&o.settings.Model.EmbedDim, "width", 64, "width of the embeddings and blocks, all heads together")
	f.IntVar(&o.settings.Model.NumHeads, "heads", 4, "heads of every attention, a divisor of the width")
	f.IntVar(&o.settings.Model.NumLayers, "blocks", 1, "blocks of the encoder, and of the decoder")
	f.Int64Var(&o.settings.Training.Seed, "seed", 1,
		"seed of the initial weights, of the dates held out and of the batches")
	f.StringVar(&o.out, "out", "", "run `folder` (default: the first free one of runs/1, runs/2, …)")
	f.StringVar(&o.picture, "picture", "",
		"PNG `file` for the cross-attention weights (default: attention.png in the run folder)")
	f.StringArrayVar(&o.dates, "date", nil, "a `date` to translate; may be given again")
	f.StringVar(&o.resume, "resume", "", "run `folder`, or a checkpoint in it, to resume")
	f.StringVar(&o.model, "model", "", "run `folder` whose model translates --date, without training")
	return cmd
}
