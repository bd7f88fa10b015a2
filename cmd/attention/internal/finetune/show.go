package finetune

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run/settings"
	"attention/train/text"
)

// showLessons prints the learned parts of the first n examples: a line for each token, with a mark on those that the
// loss counts.
func (r *answering) showLessons(ctx context.Context, w io.Writer, n int) error {
	file := r.files[0]
	for i := range min(n, file.Len()) {
		example, err := file.At(i)
		if err != nil {
			return err
		}
		lesson, _, err := r.examples.lessons.Of(ctx, example)
		if err != nil {
			return fmt.Errorf("%s: %w", file.Where(i), err)
		}
		texts, err := text.Texts(r.base.Tokenizer, lesson.IDs)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "example %d: %d tokens\n", i+1, len(lesson.IDs))
		for j, id := range lesson.IDs {
			mark := " "
			if lesson.Learned != nil && lesson.Learned[j] && j > 0 {
				mark = "learned"
			}
			fmt.Fprintf(w, "%6d  %-7s  %q\n", id, mark, texts[j])
		}
	}
	return nil
}

// unread describes the ignored keys of examples: the ten most frequent ones, and the number of the others.
func (r *tuning) unread() (phrases []string) {
	counts := map[string]int{}
	for _, file := range r.files {
		for key, n := range file.Unread() {
			counts[key] += n
		}
	}
	const most = 10
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	for _, key := range keys[:min(len(keys), most)] {
		phrases = append(phrases, fmt.Sprintf("%.40q in %s,", key, settings.Count(counts[key], "example")))
	}
	if more := len(keys) - most; more > 0 {
		phrases = append(phrases, fmt.Sprintf("and %d more,", more))
	}
	if n := len(phrases); n > 0 {
		phrases[n-1] = strings.TrimSuffix(phrases[n-1], ",")
	}
	return phrases
}
