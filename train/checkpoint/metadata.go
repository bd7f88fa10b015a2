package checkpoint

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"attention/graph"
	"attention/internal/about"
	"attention/internal/config"
	"attention/train"
)

// metadata is the part of a checkpoint beside its tensors.
type metadata struct {
	train.State        // without tensors
	source      []byte // nil if there is none
	kernels     string
	precision   string
}

// evaluations summarizes the evaluations of a run. The zero value is for none.
type evaluations struct {
	Step   int     `json:"step"` // of the evaluation with the lowest loss
	Loss   float64 `json:"loss"`
	Tokens int     `json:"tokens"`
	From   float64 `json:"from"`  // the last loss that counted as an improvement
	Stale  int     `json:"stale"` // evaluations since then
}

func readMetadata(all map[string]string) (c metadata, err error) {
	if got := all[formatKey]; got != format {
		return c, fmt.Errorf("format: got %q, want %q", got, format)
	}
	for _, field := range []struct {
		key    string
		number *int
	}{{stepKey, &c.Steps}, {evaluatedKey, &c.Evaluated}} {
		text := all[field.key]
		if *field.number, err = strconv.Atoi(text); err != nil || *field.number < 0 {
			return c, fmt.Errorf("%s: got %q, want a whole number >= 0", field.key, text)
		}
	}
	if err := config.Foreign.Decode([]byte(all[configKey]), &c.Config); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	if text, ok := all[frozenKey]; ok {
		if err := config.Foreign.Decode([]byte(text), &c.Frozen); err != nil {
			return c, fmt.Errorf("frozen: %w", err)
		}
	}
	e, err := parseEvaluations(all[bestKey])
	if err != nil {
		return c, fmt.Errorf("best: %w", err)
	}
	c.Best, c.From, c.Stale = train.Evaluation{Step: e.Step, Loss: e.Loss, Tokens: e.Tokens}, e.From, e.Stale
	c.Observed = -1
	if text, ok := all[observedKey]; ok {
		if c.Observed, err = strconv.Atoi(text); err != nil || c.Observed < 0 {
			return c, fmt.Errorf("%s: got %.100q, want a whole number >= 0", observedKey, text)
		}
	}
	if c.kernels = all[kernelsKey]; c.kernels == "" {
		return c, fmt.Errorf("%s: got none, want a name", kernelsKey)
	}
	c.precision = cmp.Or(all[precisionKey], graph.FullPrecision.String())
	c.Config.About, c.Notes = about.Get(all, about.Prefix), about.Get(all, notesPrefix)
	if state, ok := all[sourceKey]; ok {
		if c.source, err = base64.StdEncoding.DecodeString(state); err != nil {
			return c, fmt.Errorf("source: %w", err)
		}
	}
	return c, nil
}

// parseEvaluations reads evaluations from a checkpoint; none if the text is empty.
func parseEvaluations(text string) (e evaluations, err error) {
	if text == "" {
		return e, nil
	}
	if err := config.Foreign.Decode([]byte(text), &e); err != nil {
		return e, err
	}
	return e, config.JSON(cmp.Or(config.AtLeast(e, 1, "Step"), config.AtLeast(e, 0, "Tokens", "Stale")))
}

// restoreSource sets a source, unless it is nil, to the checkpoint's position; undo
// sets it back.
func (c metadata) restoreSource(source train.Resumable) (undo func() error, err error) {
	if source == nil {
		return func() error { return nil }, nil
	}
	if c.source == nil {
		return nil, errors.New("source: got none, want the state of one: it was saved without")
	}
	before := source.State()
	if err := source.SetState(c.source); err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	return func() error { return source.SetState(before) }, nil
}

// compareAbout lists the entries that differ.
func compareAbout(want, got map[string]string) error {
	keys := map[string]string{}
	maps.Copy(keys, want)
	maps.Copy(keys, got)
	var differ []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if g, w := got[key], want[key]; g != w {
			differ = append(differ, fmt.Sprintf("%s: got %q, want the loop's %q", key, g, w))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return errors.New(strings.Join(differ, "; "))
}
