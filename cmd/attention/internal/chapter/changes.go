package chapter

import (
	"fmt"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/layers/chapter"

	"github.com/spf13/pflag"
)

// changes holds the values of the flags that change sections.
type changes struct {
	sentence string
	seed     int64
	heads    int
	dropout  float64
}

func (c *changes) add(flags *pflag.FlagSet) {
	flags.StringVar(&c.sentence, "sentence", "",
		"run on these `words` instead of \"Your journey starts with one step\"")
	flags.Int64Var(&c.seed, "seed", 0,
		"the `seed` of the weights, and of the vectors of words that the chapter has not (default: the section's own)")
	flags.IntVar(&c.heads, "heads", 0, "the `number` of heads (default: the section's own)")
	flags.Float64Var(&c.dropout, "dropout", 0,
		"the `probability` that a weight is dropped (default: the section's own)")
}

// change is one of these flags.
type change struct {
	flag, of string                     // the flag, and the setting that it changes
	has      func(chapter.Section) bool // whether a section has this setting
	set      func(*chapter.Section)
}

// all returns the flags.
func (c *changes) all() []change {
	return []change{
		{"sentence", "words", func(s chapter.Section) bool { return s.Words != nil },
			func(s *chapter.Section) { s.Words = strings.Fields(c.sentence) }},
		{"seed", "random numbers", chapter.Section.HasSeed, func(s *chapter.Section) { s.Seed = c.seed }},
		{"heads", "heads", func(s chapter.Section) bool { return s.NumHeads != 0 },
			func(s *chapter.Section) { s.NumHeads = c.heads }},
		{"dropout", "dropout", chapter.Section.HasDropout, func(s *chapter.Section) { s.Dropout = c.dropout }},
	}
}

// settings are the flags that set fields of a section or of its layer.
var settings = map[string]string{"Words": "--sentence", "Seed": "--seed", "NumHeads": "--heads", "Dropout": "--dropout"}

// apply changes sections by the flags on the command line. A flag that changes none of them is an error.
func (c *changes) apply(flags *pflag.FlagSet, sections []chapter.Section) error {
	for _, change := range c.all() {
		if !flags.Changed(change.flag) {
			continue
		}
		if !slices.ContainsFunc(sections, change.has) {
			const wrong = "--%s: got a value, but no section shown has %s; %s"
			return fmt.Errorf(wrong, change.flag, change.of, sectionsWith(change.has))
		}
		for i := range sections {
			if change.has(sections[i]) {
				change.set(&sections[i])
			}
		}
	}
	for _, s := range sections {
		if err := s.Validate(); err != nil {
			return config.Named(err, settings)
		}
	}
	return nil
}

// sectionsWith returns a text with the numbers of the walk's sections that have a setting.
func sectionsWith(has func(chapter.Section) bool) string {
	var numbers []string
	for _, s := range chapter.Sections() {
		if has(s) {
			numbers = append(numbers, fmt.Sprint(s.Number))
		}
	}
	return "sections " + strings.Join(numbers, ", ") + " have"
}
