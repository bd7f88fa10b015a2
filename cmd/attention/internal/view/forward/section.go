package forward

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/layers/chapter"

	"gorgonia.org/tensor"
)

// Section is a section of the chapter. A page computes its steps from the values of inputs and weights.
type Section struct {
	Number int      `json:"number"`
	Title  string   `json:"title"`
	Text   string   `json:"text"`
	Why    string   `json:"why"`
	Words  []string `json:"words,omitempty"`
	Steps  []Step   `json:"steps"`
}

// Step is a step of a section. It has either Values or Exact, the formula from which the page computes the values.
type Step struct {
	chapter.Step
	Shape  []int     `json:"shape"`
	Values []float64 `json:"values,omitempty"`
	Whole  []int     `json:"whole,omitempty"` // the shape of the matrix whose corner is in Values
	Count  bool      `json:"count,omitempty"` // whether Values are a size or a count
}

// Contents returns the titles of the chapter's sections.
func Contents() (titles []string) {
	for _, s := range chapter.Sections() {
		titles = append(titles, s.Title)
	}
	return titles
}

// CheckSentence returns an error if the sections cannot run on a sentence.
func CheckSentence(sentence string) error {
	s := chapter.Sections()[0]
	s.Words = strings.Fields(sentence)
	return config.Named(s.Validate(), sectionNames)
}

// sectionNames are the names that the page uses for a section's fields, for errors.
var sectionNames = map[string]string{"Words": "sentence"}

// wordless caches the sections without words, which are always the same.
var wordless sync.Map

// NewSection computes a section, by its number from 1. Sections with words use those of a sentence, or those of the
// chapter if there is no sentence.
func NewSection(number int, sentence *string) (Section, error) {
	all := chapter.Sections()
	if number < 1 || number > len(all) {
		return Section{}, fmt.Errorf("number: got %d, want 1 to %d", number, len(all))
	}
	s := all[number-1]
	if s.Words == nil {
		if kept, ok := wordless.Load(number); ok {
			return kept.(Section), nil
		}
	} else if sentence != nil {
		s.Words = strings.Fields(*sentence)
	}
	steps, err := s.Trace(tensor.Float32, nil)
	if err != nil {
		return Section{}, config.Named(err, sectionNames)
	}
	out := Section{Number: number, Title: s.Title, Text: s.Text, Why: s.Why, Words: s.Words}
	for _, step := range steps {
		out.Steps = append(out.Steps, newStep(step))
	}
	if s.Words == nil {
		wordless.Store(number, out)
	}
	return out, nil
}

func newStep(s chapter.Step) Step {
	out := Step{Step: s, Shape: s.Value.Shape().Clone(), Count: s.Value.Dtype() == tensor.Int}
	if s.Exact == nil {
		out.Values = dense.Float64s(s.Value)
		out.corner()
	}
	out.Value = nil // Values are sent
	return out
}

// cornerSize is the number of rows and columns that are kept of a matrix with more than chapter.MaxWords.
const cornerSize = 8

// corner keeps the first rows and columns of a large matrix.
func (s *Step) corner() {
	n := len(s.Shape)
	if n < 2 || max(s.Shape[n-1], s.Shape[n-2]) <= chapter.MaxWords {
		return
	}
	s.Whole = s.Shape
	s.Shape = slices.Clone(s.Shape)
	rows, columns := s.Shape[n-2], s.Shape[n-1]
	s.Shape[n-2], s.Shape[n-1] = min(rows, cornerSize), min(columns, cornerSize)
	var kept []float64
	for i := 0; i < len(s.Values); i += columns {
		if i/columns%rows < cornerSize {
			kept = append(kept, s.Values[i:i+s.Shape[n-1]]...)
		}
	}
	s.Values, s.Rows, s.Columns = kept, nil, nil
}
