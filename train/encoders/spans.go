package encoders

import (
	"fmt"
	"strings"
)

// span is a part of a text, from a word up to another, with its label.
type span struct {
	from, to int
	label    string
}

// SpanF1 returns the precision, recall and F1 of the spans in the classes that words of texts were given, beside the
// spans in the classes wanted. Classes are O, or B- or I- and a label; a class without a prefix counts as I-. A span
// begins with B-, and with I- after O or another label. A span is right if its place and its label are right. Without
// spans, a measure is 0. These are the measures of seqeval in its default mode.
func SpanF1(want, got [][]string) ([]Measure, error) {
	if len(got) != len(want) {
		return nil, fmt.Errorf("encoders: spans: got the classes of %d texts, want those of %d", len(got), len(want))
	}
	var right, found, all float64
	for i := range want {
		if len(got[i]) != len(want[i]) {
			return nil, fmt.Errorf("encoders: spans: text %d: got %d classes, want %d", i, len(got[i]), len(want[i]))
		}
		wanted := map[span]bool{}
		for _, s := range spansOf(want[i]) {
			wanted[s] = true
			all++
		}
		for _, s := range spansOf(got[i]) {
			if found++; wanted[s] {
				right++
			}
		}
	}
	return []Measure{{"precision", right / max(found, 1)}, {"recall", right / max(all, 1)},
		{"F1", 2 * right / max(found+all, 1)}}, nil
}

// spansOf returns the spans in the classes of words.
func spansOf(classes []string) (all []span) {
	open := false
	for i, class := range classes {
		if class == "O" {
			open = false
			continue
		}
		kind, label, ok := strings.Cut(class, "-")
		if !ok {
			label = class
		}
		if !open || kind == "B" || label != all[len(all)-1].label {
			all = append(all, span{from: i, label: label})
		}
		all[len(all)-1].to, open = i+1, true
	}
	return all
}
