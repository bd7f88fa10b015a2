package finetune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/graph"
	"attention/internal/oneline"
	"attention/layers"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// classesOf returns the labels of a file of examples, or for settings.TagTask their tags.
func classesOf(path, task string) (classes []string, err error) {
	e, err := text.OpenExamples(path)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	defer func() { err = oneline.Join(err, e.Close()) }()
	labels := map[string]bool{}
	for i := range e.Len() {
		example, err := e.At(i)
		if err != nil {
			return nil, fmt.Errorf("--data: %w", err)
		}
		found, missing := []string{example.Label}, text.ErrNoLabel
		if task == settings.TagTask {
			found, missing = example.Tags, errNoTags
		}
		if len(found) == 0 || found[0] == "" {
			return nil, fmt.Errorf("--data: %s: %w", e.Where(i), missing)
		}
		for _, label := range found {
			labels[label] = true
		}
	}
	if len(labels) < 2 {
		return nil, fmt.Errorf("--data: %s: got %s, want at least two", path, settings.Count(len(labels), "class"))
	}
	return slices.SortedFunc(maps.Keys(labels), compareLabels), nil
}

var errNoTags = errors.New("got no words with tags, want tokens and ner_tags")

// compareLabels compares integers by their values, and other labels as texts.
func compareLabels(a, b string) int {
	m, wrong := strconv.Atoi(a)
	n, err := strconv.Atoi(b)
	if wrong != nil || err != nil {
		return cmp.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(m, n), cmp.Compare(a, b))
}

// confusion returns how often held-out texts of one class (row) are classified as another (column).
func (r *answering) confusion(ctx context.Context) ([][]int, error) {
	c := r.config.Tuning
	scores, err := layers.NewFunc(r.Params, func(b *layers.Build, in layers.Inputs) []*G.Node { // (B, T, C)
		return b.Nodes(r.base.Classifier.PackedScores(b, in[text.Inputs], text.Packing(in)))
	}, layers.FuncConfig{})
	if err != nil {
		return nil, err
	}
	counts := make([][]int, len(c.Classes))
	for i := range counts {
		counts[i] = make([]int, len(c.Classes))
	}
	for {
		batch, err := r.examples.valid.Next()
		if err == io.EOF {
			return counts, nil
		}
		if err != nil {
			return nil, err
		}
		wanted := batch.Inputs[text.Targets].Ints()
		values, err := scores.Call(ctx, batch.Inputs)
		if err != nil {
			return nil, err
		}
		n := len(c.Classes)
		for i, class := range wanted {
			if class != graph.IgnoreTarget {
				counts[class][likeliest(values[0], i*n, n)]++
			}
		}
	}
}

// likeliest returns the index of the largest of n scores from one on.
func likeliest(scores *tensor.Dense, from, n int) (best int) {
	for i := range n {
		if models.Number(scores, from+i) > models.Number(scores, from+best) {
			best = i
		}
	}
	return best
}

// printConfusion prints which classes held-out texts are given.
func (r *answering) printConfusion(ctx context.Context) error {
	if r.base.Classifier == nil || r.examples.valid == nil {
		return nil
	}
	counts, err := r.confusion(ctx)
	if err != nil {
		return err
	}
	right, all := rightOf(counts)
	share := float64(right) / float64(all)
	r.Report.ExactMatch = &share
	r.printCounts(counts)
	return nil
}

// rightOf returns the number of correctly classified texts, and the number of all texts, of a confusion matrix.
func rightOf(counts [][]int) (right, all int) {
	for i, row := range counts {
		right += row[i]
		for _, n := range row {
			all += n
		}
	}
	return right, all
}

// printCounts prints how many held-out texts are classified correctly, and how the others are classified.
func (r *tuning) printCounts(counts [][]int) {
	names := r.config.Tuning.Classes
	right, all := rightOf(counts)
	fmt.Fprintf(r.Out, "\nOf the held-out texts %d of %d are given their class: %.1f %%.\n", right, all,
		100*float64(right)/float64(all))
	width := 0
	for _, name := range names {
		width = max(width, len([]rune(short(name))))
	}
	for i, row := range counts {
		var phrases []string
		for j, n := range row {
			if n > 0 {
				phrases = append(phrases, fmt.Sprintf("%s %d,", term.Line(names[j]), n))
			}
		}
		if len(phrases) > 0 {
			fmt.Fprint(r.Out, term.Fill(fmt.Sprintf("  %-*s  given  ", width, short(names[i])), phrases...))
		}
	}
}
