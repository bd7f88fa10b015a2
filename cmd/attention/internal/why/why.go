// Package why is the command attention why, which trains small models with and without attention on two tasks that
// show what attention is for.
package why

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/trials"
	"attention/cmd/attention/internal/view/serve"
	"attention/train/tasks/reversal"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const help = `Show what attention is for: train models with and without it, side by side, on
two tasks, and compare. Each task takes one to three minutes on two cores.

reverse   Strings of 5 to 40 random letters have to be written backwards. Three
          models of the same size learn from the same strings:
            squeezed      a GRU reads the string and another GRU writes; it
                          gets one hidden state
            attending     the same, but before each letter the writer attends
                          to all states of the reader (Bahdanau et al. 2014)
            transformer   no recurrence: an encoder and a decoder with self-
                          and cross-attention (Vaswani et al. 2017)
          A plot and a table show how many new strings of each length come
          back right to the last letter. A picture shows where the models
          attend for each letter that they write.

picture   A picture has 6 x 6 tiles; most show a digit. An arrow asks for the
          digit next to it, a coloured ? for the digit on the other tile of its
          colour. A transformer takes each tile as a token, with its row and
          column as positions. It answers the tiles that ask, once with
          attention and once with every tile seeing only itself. A table shows
          the share of right answers and the head that attends to the right
          tile; a picture shows where each asking tile attends.

Without --task the command runs both. --seeds trains everything several times,
from other initial weights and on other examples.

--view trains nothing: it serves a page where three trained models write your
string backwards, letter by letter, and show where they attend. The URL holds a
random token; requests without it are refused. Ctrl-C ends it.

The folder, --out or the first free one of why/1, why/2, …, gets report.json
with every number, reverse.png, reverse-attention.png, reverse.safetensors with
the models of the first seed in half precision, and picture.png. The same flags
give the same numbers, except seconds, on processors with the same kernels
(AVX-512, AVX2, NEON or none).`

const example = `  attention why
  attention why --task reverse --seeds 1
  attention why --task picture --out why/tiles
  attention why --view`

// options are the flags.
type options struct {
	trials.Flags
	task string // empty: all
	page serve.Flags
}

// validate returns an error for the first wrong flag of a parsed set.
func (o options) validate(set *pflag.FlagSet) error {
	if set.Changed("task") && o.task != reverseTask && o.task != pictureTask {
		return fmt.Errorf("--task: got %q, want %s or %s", o.task, reverseTask, pictureTask)
	}
	var besides error
	set.Visit(func(f *pflag.Flag) {
		if o.page.View && !slices.Contains([]string{"view", "addr", "open"}, f.Name) && besides == nil {
			besides = fmt.Errorf("--%s: got it besides --view, which trains nothing, want one of them", f.Name)
		}
	})
	return cmp.Or(o.Flags.Validate(set), besides, o.page.Validate(set))
}

// New returns the command attention why.
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "why",
		Short:   "Train models with and without attention on two tasks",
		Long:    help,
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(cmd.Flags()); err != nil {
				return err
			}
			if o.page.View {
				return show(cmd.Context(), o.page, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return trials.Run(cmd, func(ctx context.Context) error {
				return compare(ctx, cmd.OutOrStdout(), flags.CommandLine("why", cmd.Flags()), o)
			})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.task, "task", "", "`task`: reverse or picture (default: both)")
	o.Flags.Define(f, "why", fmt.Sprintf("%d of reverse, %d of picture", reverseSteps, pictureSteps), 3)
	o.page.Add(f, "serve a page where trained models reverse your strings")
	return cmd
}

// show serves the page of the kept models until the context ends.
func show(ctx context.Context, page serve.Flags, out, notes io.Writer) error {
	models, r, err := readRivals(kept)
	if err != nil {
		return fmt.Errorf("--view: the models of the program: %w", err)
	}
	var c serve.Config
	for i, m := range models {
		writer, err := reversal.NewWriter(m.Model)
		if err != nil {
			return err
		}
		of := r.Models[i]
		c.Rivals = append(c.Rivals, serve.Rival{Name: of.Name, Parameters: of.Parameters, Exact: of.Exact[0],
			Writer: writer})
	}
	return page.Present(ctx, c, out, notes)
}
