// Package compare is the command attention compare, which trains the same small GPT with one form of attention after
// another.
package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/term"
	"attention/cmd/attention/internal/trials"
	"attention/train/tasks/lookback"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const help = `Show which attention is good for what: train the same small GPT, a decoder like
Llama, with each form of attention, and compare. The width of a model's MLPs is
chosen so that all models are as large as that with full attention, within 3 %%.
All take the same number of steps on the same examples.

--text FILE   A language model of the file's characters, on windows of 128. The
              loss is that of the whole last tenth of the text.
--task copy   Eight letters have to be repeated 12 to 55 tokens later.
--task recall Keys have to be answered with the values that came with them, each
              among 1 to 16 pairs (Arora et al. 2023). A task's loss is measured
              on new sequences, right answers by distance or number of pairs.

The attentions, for --attention:

%s
The tables show the loss, right answers, seconds and memory of training,
tokens per second of writing, and the size of the cache, per token and fixed.
The times are those of a machine that does nothing else. One task takes less
than ten minutes on two cores with one seed.

The folder, --out or the first free one of compare/1, compare/2, …, gets
compare.png, and report.json with every number, which is written after each
training. The same flags give the same losses on processors with the same
kernels (AVX-512, AVX2, NEON or none).`

const example = `  attention compare --text tinyshakespeare.txt
  attention compare --task recall --attention full,window,gated_delta_net
  attention compare --task copy --seeds 5 --out compare/copy`

// options are the flags.
type options struct {
	trials.Flags
	text, task string
	attention  []string // empty: all
}

// validate returns an error for the first wrong flag of a parsed set.
func (o options) validate(set *pflag.FlagSet) error {
	tasks := lookback.Tasks()
	switch {
	case set.Changed("text") == set.Changed("task"):
		return fmt.Errorf("--text, --task: want one of them: a file, or %s or %s", tasks[0], tasks[1])
	case set.Changed("task") && !slices.Contains(tasks, lookback.Task(o.task)):
		return fmt.Errorf("--task: got %q, want %s or %s", o.task, tasks[0], tasks[1])
	}
	return o.Flags.Validate(set)
}

// New returns the command attention compare.
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "compare",
		Short:   "Train a small GPT with each form of attention and compare",
		Long:    fmt.Sprintf(help, listed()),
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(cmd.Flags()); err != nil {
				return err
			}
			return trials.Run(cmd, func(ctx context.Context) error { return o.run(ctx, cmd) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.text, "text", "", "the `file` to learn from")
	f.StringVar(&o.task, "task", "", "the `task` to learn: copy or recall")
	f.StringSliceVar(&o.attention, "attention", nil, "the `names` of attentions, with commas (default: all)")
	o.Flags.Define(f, "compare", fmt.Sprintf("%d of a text, %d of a task", textSteps, taskSteps), 1)
	return cmd
}

// run reads the text or the task and compares the attentions.
func (o options) run(ctx context.Context, cmd *cobra.Command) error {
	chosen, err := choose(o.attention)
	if err != nil {
		return err
	}
	var g goal
	if o.task != "" {
		g = ofTask(lookback.Task(o.task))
	} else if g, err = ofText(o.text); err != nil {
		return fmt.Errorf("--text: %s: %w", o.text, err)
	}
	if o.Steps > 0 {
		g.steps = o.Steps
	}
	return compare(ctx, cmd.OutOrStdout(), flags.CommandLine("compare", cmd.Flags()), o, g, chosen)
}

// listed returns the names of the attentions: a line for each that is not a form of attention train.
func listed() string {
	text, forms := "", []string(nil)
	for _, v := range variants() {
		if v.text == "" {
			forms = append(forms, v.name+",")
			continue
		}
		text += fmt.Sprintf("  %-9s%s\n", v.name, v.text)
	}
	forms[len(forms)-1] = strings.TrimSuffix(forms[len(forms)-1], ",")
	return text + term.Fill("  ", append(forms, "as in attention train --attention")...)
}
