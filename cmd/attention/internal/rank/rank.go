// Package rank is the command attention rank, which sorts texts by how well they answer a query.
package rank

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/train/pretrained"

	"github.com/spf13/cobra"
)

const help = `Print the lines of a text in the order of their scores for a query, the best
first, with a cross-encoder such as ms-marco-MiniLM-L6-v2. The model reads the
query and a line together: that takes longer than the vectors of attention
embed, and is more exact. --model is a folder of BERT or DistilBERT for sequence
classification with one label, in the form of sentence-transformers or
transformers, or a run of attention finetune --task rank. Scores are from 0 to 1
unless the folder names another activation. If a query and a line are too long
together, the longer of the two is cut.

--json prints an object with the number of the line, the score and the text for
each line.`

const example = `  attention rank --model reranker --query "a meal" --text-file lines.txt --top 3`

// options are the flags.
type options struct {
	model, base, query, file string
	json                     bool
	top                      int
}

// New returns the command attention rank.
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:                   "rank --model DIR --query TEXT --text-file FILE",
		Short:                 "Sort texts by how well they answer a query",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.model, "model", "", "`folder` of the cross-encoder, or of a run of attention finetune --task rank")
	f.StringVar(&o.base, "base", "", "`folder` in which the base of the run is now")
	f.StringVar(&o.query, "query", "", "`text` that the lines are scored for")
	f.StringVar(&o.file, "text-file", "", "UTF-8 `file` with a text in each line; - is the standard input")
	f.IntVar(&o.top, "top", 0, "`lines` that are printed; 0 means all")
	f.BoolVar(&o.json, "json", false, "print an object for each line")
	return cmd
}

// scored is a line with its score.
type scored struct {
	Line  int     `json:"line"` // from 1
	Score float64 `json:"score"`
	Text  string  `json:"text"`
}

func (o options) run(ctx context.Context, w, notes io.Writer) error {
	switch {
	case o.model == "":
		return errors.New("--model: missing, want the folder of a cross-encoder")
	case o.query == "":
		return errors.New("--query: missing, want a text")
	case o.file == "":
		return errors.New("--text-file: missing, want a file with a text in each line")
	case o.top < 0:
		return fmt.Errorf("--top: got %d, want at least 0", o.top)
	}
	lines, err := term.Await(ctx, func() ([]string, error) { return settings.ReadLines("--text-file", o.file) })
	if err != nil {
		return err
	}
	encoder, from, err := models.OpenHead(o.model, o.base, settings.RankTask, pretrained.OpenCrossEncoder)
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	program.Notes(notes, from)
	r, err := encoder.Ranker()
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	scores, err := term.Await(ctx, func() ([]float64, error) { return r.Scores(ctx, o.query, lines...) })
	if err != nil {
		return fmt.Errorf("--text-file: %w", err)
	}
	all := make([]scored, len(lines))
	for i, line := range lines {
		all[i] = scored{i + 1, scores[i], line}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.Score, a.Score) })
	if o.top > 0 {
		all = all[:min(o.top, len(all))]
	}
	out := term.NewOutput(w)
	for _, line := range all {
		if err := term.Stopped(ctx, ctx.Err()); err != nil {
			return err
		}
		if !o.json {
			fmt.Fprintf(out, "%7.4f  %s\n", line.Score, term.Line(line.Text))
		} else if err := json.NewEncoder(out).Encode(line); err != nil {
			return err
		}
	}
	return out.Err()
}
