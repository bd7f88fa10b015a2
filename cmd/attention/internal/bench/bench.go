// Package bench is the command attention bench, which times attention and its gradients.
package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/term"

	"github.com/spf13/cobra"
)

// options are the flags of attention bench that are not part of a work.
type options struct {
	runs, threads int
	json, profile bool
}

// New returns the command attention bench.
func New() *cobra.Command { return newCommand(standardWorks()) }

// sizeFlags are the flags that choose a single work.
var sizeFlags = []string{"batch", "tokens", "width", "heads", "kv-heads", "no-causal", "mode", "layers", "vocab"}

// newCommand returns the command. It times the standard works if no flag selects a single work.
func newCommand(works []work) *cobra.Command {
	var w work
	var o options
	var full bool
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Time attention and its gradients at any size",
		Long:    help,
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			w.Causal = !full
			err := runWorks(cmd.Context(), cmd.OutOrStdout(), o, w, cmd.Flags().Changed, works)
			return term.Stopped(cmd.Context(), err)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&w.Batch, "batch", 2, "sequences in the batch")
	f.IntVar(&w.Tokens, "tokens", 1024, "tokens of a sequence")
	f.IntVar(&w.EmbedDim, "width", 768, "width of a token, all heads together")
	f.IntVar(&w.NumHeads, "heads", 12, "heads; a divisor of the width")
	f.IntVar(&w.NumKVHeads, "kv-heads", 0, "heads of keys and values (default: one for each head)")
	f.BoolVar(&full, "no-causal", false, "every token sees every other")
	f.StringVar(&w.Mode, "mode", forwardBackward, "what to time: forward, forward-backward or gpt-step")
	f.IntVar(&w.NumLayers, "layers", 4, "blocks of the GPT of gpt-step")
	f.IntVar(&w.VocabSize, "vocab", characters, "distinct tokens of gpt-step")
	f.StringVar(&w.Dtype, "dtype", "float32", "element type: float32 or float64")
	f.StringVar(&w.Precision, "precision", "full", flags.PrecisionUsage)
	f.IntVar(&o.runs, "runs", 0, "timed runs (default: as many as two seconds hold, from 5 to 1000)")
	f.IntVar(&o.threads, "threads", 0, "threads that compute at once (default: one for each core)")
	f.BoolVar(&o.profile, "profile", false, "print the time of a run by op, too")
	f.BoolVar(&o.json, "json", false, "print a JSON object for each work, one on a line")
	return cmd
}

const (
	maxRuns    = 1 << 20
	maxThreads = 1 << 10
)

func (o options) validate() error {
	for _, f := range []struct {
		name      string
		got, most int
	}{{"runs", o.runs, maxRuns}, {"threads", o.threads, maxThreads}} {
		if f.got < 0 || f.got > f.most {
			return fmt.Errorf("--%s: got %d, want a whole number from 1 to %d, or 0 for the default", f.name,
				f.got, f.most)
		}
	}
	return nil
}

// runWorks times work w in this process if one of the flags on the command line selects it; otherwise it times each of
// works in a process of its own.
func runWorks(ctx context.Context, out io.Writer, o options, w work, changed func(string) bool, works []work) error {
	one := slices.ContainsFunc(sizeFlags, changed)
	if one {
		works = []work{w}
	}
	for i := range works {
		works[i].Dtype, works[i].Precision = w.Dtype, w.Precision
		if err := works[i].validate(); err != nil {
			return err
		}
	}
	if err := w.heeds(changed); err != nil {
		return err
	}
	if one {
		return runHere(ctx, out, o, w)
	}
	return runInChildren(ctx, out, o, works)
}

// runHere times a work in this process.
func runHere(ctx context.Context, out io.Writer, o options, w work) error {
	if o.threads > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.threads))
	}
	r, err := measure(ctx, w, o)
	if err != nil {
		return err
	}
	return (&printer{out: out, json: o.json}).print(r)
}

// standardWorks returns the works to time if no flag chooses a single one: attention of
// GPT-2 small's size, a tiny layer, a training step of a small GPT, and sequences of many lengths,
// whose memory can be compared.
func standardWorks() []work {
	small := func(batch, tokens int, mode string) work {
		return work{Batch: batch, Tokens: tokens, EmbedDim: 768, NumHeads: 12, Causal: true, Mode: mode}
	}
	works := []work{
		small(2, 1024, forwardBackward),
		small(2, 1024, forwardOnly),
		{Batch: 32, Tokens: 32, EmbedDim: 64, NumHeads: 4, Causal: true, Mode: forwardBackward},
		{Batch: 12, Tokens: 64, EmbedDim: 128, NumHeads: 4, NumLayers: 4, VocabSize: characters, Causal: true, Mode: gptStep},
	}
	for tokens := 256; tokens <= 8192; tokens *= 2 {
		works = append(works, small(1, tokens, forwardBackward))
	}
	return works
}
