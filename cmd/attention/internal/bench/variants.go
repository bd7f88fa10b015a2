package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"attention/cmd/attention/internal/term"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
)

// variantResult holds the measurements of one way to compute the chapter's multi-head attention.
type variantResult struct {
	Variant string  `json:"variant"`
	Text    string  `json:"text"`
	Weights bool    `json:"weights"`                  // whether the variant gives the attention weights
	Ops     int     `json:"ops"`                      // of the forward graph
	Forward float64 `json:"seconds_forward"`          // median of the runs
	Both    float64 `json:"seconds_forward_backward"` // with the gradients of all parameters
}

// runVariants times the variants one after the other and prints their times and a chart.
func runVariants(ctx context.Context, out io.Writer, o options, w work) error {
	var all []variantResult
	for _, v := range chapter.Variants() {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := measureVariant(ctx, v, w, o)
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		debug.FreeOSMemory() // the next variant begins with the same memory
		if o.json {
			if err := json.NewEncoder(out).Encode(r); err != nil {
				return err
			}
		}
		all = append(all, r)
	}
	if o.json {
		return nil
	}
	kernels := term.Fill("kernels ", measureKernels(w).Phrases(w.numbers())...)
	_, err := io.WriteString(out, kernels+"\n"+chart(w, all))
	return err
}

// measureVariant times a variant, forward alone and with gradients.
func measureVariant(ctx context.Context, v chapter.Variant, w work, o options) (r variantResult, err error) {
	r = variantResult{Variant: v.Name, Text: v.Text}
	for _, row := range []struct {
		mode    layers.Mode
		seconds *float64
	}{{layers.Eval, &r.Forward}, {layers.Train, &r.Both}} {
		b, wanted, err := buildOf(w, row.mode, func(b *layers.Build, x *G.Node) (G.Nodes, error) {
			l, err := v.New(b.Params().Scope(""), w.Width, w.Heads)
			if err != nil {
				return nil, err
			}
			out, weights, err := l.Forward(b, x)
			if weights == nil {
				return G.Nodes{out}, err
			}
			return G.Nodes{out, weights}, err
		})
		if err != nil {
			return r, err
		}
		if row.mode == layers.Eval {
			r.Weights = len(wanted) > 1
			for _, n := range b.Graph().AllNodes() {
				if n.Op() != nil {
					r.Ops++
				}
			}
		}
		took, err := timeGraph(ctx, wanted, o.runs)
		if err != nil {
			return r, err
		}
		*row.seconds = median(took)
	}
	return r, nil
}

// chart returns the times as a table, with a bar for each, whose length is its share of the
// longest time.
func chart(w work, all []variantResult) string {
	const name, bar = 14, 38 // columns
	longest := 0.0           // a short run may take longer without gradients
	for _, r := range all {
		longest = max(longest, r.Forward, r.Both)
	}
	byTime := func(a, b variantResult) int { return cmp.Compare(a.Both, b.Both) }
	slow, fast := slices.MaxFunc(all, byTime), slices.MinFunc(all, byTime)
	var text strings.Builder
	fmt.Fprintf(&text, "B%d T%d E%d H%d %s causal, threads: %d\n"+
		"Seconds of a run, forward (█) and with gradients (░):\n\n",
		w.Batch, w.Tokens, w.Width, w.Heads, w.Dtype, runtime.GOMAXPROCS(0))
	text.WriteString(term.Row("VARIANT", name, fmt.Sprintf("%4s %8s %8s", "OPS", "FORWARD", "BOTH")))
	for _, r := range all {
		forward := int(r.Forward/longest*bar + 0.5)
		both := max(int(r.Both/longest*bar+0.5), forward)
		text.WriteString(term.Row(r.Variant, name, fmt.Sprintf("%4d %8.3g %8.3g  %s%s", r.Ops, r.Forward, r.Both,
			strings.Repeat("█", forward), strings.Repeat("░", both-forward))))
	}
	text.WriteString("\n")
	for _, r := range all {
		text.WriteString(term.Row(r.Variant, name, r.Text))
	}
	fmt.Fprintf(&text, "\nWith gradients %s takes %.1f times as long as %s.\n",
		slow.Variant, slow.Both/fast.Both, fast.Variant)
	return text.String()
}
