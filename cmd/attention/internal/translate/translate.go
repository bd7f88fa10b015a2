// Package translate is the command attention translate, which trains an encoder and a decoder to translate dates.
package translate

import (
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"

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
	cmd := &cobra.Command{
		Use:     "translate",
		Short:   "Train an encoder and a decoder to translate dates",
		Long:    help,
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, release := term.UntilSignal(cmd.Context(), term.LostSignals()...)
			defer release()
			return term.WithSignal(ctx, options{flags: cmd.Flags()}.execute(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	settings.AddFlags(cmd.Flags(), settings.Translate)
	return cmd
}
