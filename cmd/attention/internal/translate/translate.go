// Package translate is the command attention translate, which trains an encoder and a decoder to translate dates.
package translate

import (
	"fmt"

	"github.com/spf13/cobra"
)

const help = `Train a transformer's encoder and decoder to translate dates as people write
them into ISO 8601, character by character:

  wednesday, 3 september 1975     1975-09-03
  9/3/75                          1975-09-03

The decoder attends to what it has written so far and, by cross-attention, to
what the encoder made of the written date. Dates are all those of the years
1950 to 2049, in ten styles. 2000 of the dates are held out: the model never
learns from them, in no style. The table shows the mean cross entropy, in nats
per character, of the last training steps and of the held-out dates. These are
then translated greedily, by the likeliest character each time, and one is
right if all its ten characters are.

The same flags and seed give the same model, bit for bit, on processors with the
same vectors: AVX-512, AVX2, or neither.`

const example = `  attention translate
  attention translate --out weights.png
  attention translate --blocks 2 --steps 1000 --seed 7`

// New returns the command attention translate.
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "translate",
		Short:   "Train an encoder and a decoder to translate dates",
		Long:    help,
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(cmd.Flags().Changed); err != nil {
				return fmt.Errorf("translate: %w", err)
			}
			return translateDates(cmd.Context(), cmd.OutOrStdout(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.steps, "steps", 800, "training steps")
	f.IntVar(&o.batch, "batch", 64, "dates of a step")
	f.IntVar(&o.width, "width", 64, "width of the embeddings and blocks, all heads together")
	f.IntVar(&o.heads, "heads", 4, "heads of every attention, a divisor of the width")
	f.IntVar(&o.blocks, "blocks", 1, "blocks of the encoder, and of the decoder")
	f.Int64Var(&o.seed, "seed", 1, "seed of the initial weights, of the dates held out and of the batches")
	f.StringVar(&o.out, "out", "", "PNG `file` for the cross-attention weights of a held-out date")
	return cmd
}
