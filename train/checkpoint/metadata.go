package checkpoint

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"attention/internal/about"
	"attention/internal/config"
	"attention/internal/simd"
	"attention/train"
	"attention/train/loop"
)

// The keys of a checkpoint's metadata.
const (
	format      = "attention checkpoint 3"
	formatKey   = "format"
	stateKey    = "state"  // metadata as JSON
	notesPrefix = "notes." // before the keys of State.Notes, as about.Prefix before those of Config.About
)

// metadata is a checkpoint without its tensors.
type metadata struct {
	Steps     int         `json:"steps"`
	Evaluated int         `json:"evaluated"`
	Config    loop.Config `json:"config"`
	Frozen    []string    `json:"frozen,omitempty"`
	Best      best        `json:"best,omitzero"`
	Observed  int         `json:"observed"`
	Kernels   string      `json:"kernels"`          // simd.InstructionSet
	Precision string      `json:"precision"`        // of products
	Source    *string     `json:"source,omitempty"` // Resumable.State in base64; nil without a source

	about, notes map[string]string
}

// best summarizes the evaluations of a run. The zero value is for none.
type best struct {
	Step   int     `json:"step"` // of the evaluation with the lowest loss
	Loss   float64 `json:"loss"`
	Tokens int     `json:"tokens"`
	From   float64 `json:"from"`  // the last loss that counted as an improvement
	Stale  int     `json:"stale"` // evaluations since then
}

// metadataOf returns the metadata of a state and of a source, which may be nil.
func metadataOf(s loop.State, source train.Resumable) (map[string]string, error) {
	c := metadata{Steps: s.Steps, Evaluated: s.Evaluated, Config: s.Config, Frozen: s.Frozen,
		Best: best{s.Best.Step, s.Best.Loss, s.Best.Tokens, s.From, s.Stale}, Observed: s.Observed,
		Kernels: simd.InstructionSet(), Precision: s.Config.Precision.String()}
	if source != nil {
		c.Source = new(base64.StdEncoding.EncodeToString(source.State()))
	}
	text, err := json.Marshal(c)
	all := map[string]string{formatKey: format, stateKey: string(text)}
	about.Put(all, about.Prefix, s.Config.About)
	about.Put(all, notesPrefix, s.Notes)
	return all, err
}

func readMetadata(all map[string]string) (c metadata, err error) {
	if got := all[formatKey]; got != format {
		return c, fmt.Errorf("format: got %.100q, want %q", got, format)
	}
	if err := config.Foreign.Decode([]byte(all[stateKey]), &c); err != nil {
		return c, fmt.Errorf("state: %w", err)
	}
	c.about, c.notes = about.Get(all, about.Prefix), about.Get(all, notesPrefix)
	err = cmp.Or(config.AtLeast(c, 0, "Steps", "Evaluated", "Best.Step", "Best.Tokens", "Best.Stale"),
		config.AtLeast(c, -1, "Observed"))
	if err == nil && c.Kernels == "" {
		err = config.Errorf(c, "Kernels", "got none, want a name")
	}
	if err != nil {
		return c, fmt.Errorf("state: %w", config.JSON(err))
	}
	return c, nil
}

// restoreSource sets a source, unless it is nil, to the checkpoint's position; undo
// sets it back.
func (c metadata) restoreSource(source train.Resumable) (undo func() error, err error) {
	if source == nil {
		return func() error { return nil }, nil
	}
	if c.Source == nil {
		return nil, errors.New("source: got none, want the state of one: it was saved without")
	}
	before := source.State()
	state, err := base64.StdEncoding.DecodeString(*c.Source)
	if err == nil {
		err = source.SetState(state)
	}
	if err != nil {
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
