package train

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
	"attention/internal/config"
)

// checkpointMetadata is the part of a checkpoint beside its tensors.
type checkpointMetadata struct {
	step, evaluated int
	config          Config
	source          []byte // nil if there is none
	kernels, sums   string // "" if it is not known
	precision       string
	frozen          []string
	best            evaluations
	kept            bool // whether the file has the best parameters
	recorded        int  // step of a Watch's last record; -1 if there is none
	watched         bool // whether the file has what the loop's Watch remembers
	notes           map[string]string
}

func readCheckpointMetadata(metadata map[string]string) (c checkpointMetadata, err error) {
	if got := metadata[formatKey]; got != checkpointFormat {
		return c, fmt.Errorf("format: got %q, want %q", got, checkpointFormat)
	}
	for _, field := range []struct {
		key    string
		number *int
	}{{stepKey, &c.step}, {evaluatedKey, &c.evaluated}} {
		text := metadata[field.key]
		if *field.number, err = strconv.Atoi(text); err != nil || *field.number < 0 {
			return c, fmt.Errorf("%s: got %q, want a whole number >= 0", field.key, text)
		}
	}
	if err := config.Foreign.Decode([]byte(metadata[configKey]), &c.config); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	if text, ok := metadata[frozenKey]; ok {
		if err := config.Foreign.Decode([]byte(text), &c.frozen); err != nil {
			return c, fmt.Errorf("frozen: %w", err)
		}
	}
	if c.best, err = parseEvaluations(metadata[bestKey]); err != nil {
		return c, fmt.Errorf("best: %w", err)
	}
	c.recorded = -1
	if text, ok := metadata[watchKey]; ok {
		if c.recorded, err = strconv.Atoi(text); err != nil || c.recorded < 0 {
			return c, fmt.Errorf("%s: got %.100q, want a whole number >= 0", watchKey, text)
		}
	}
	c.kernels, c.sums = metadata[kernelsKey], metadata[sumsKey]
	c.precision = cmp.Or(metadata[precisionKey], graph.FullPrecision.String())
	c.config.About, c.notes = withPrefix(metadata, aboutPrefix), withPrefix(metadata, notesPrefix)
	if state, ok := metadata[sourceKey]; ok {
		if c.source, err = base64.StdEncoding.DecodeString(state); err != nil {
			return c, fmt.Errorf("source: %w", err)
		}
	}
	return c, nil
}

// withPrefix returns the entries whose keys have a prefix, without it.
func withPrefix(metadata map[string]string, prefix string) map[string]string {
	entries := map[string]string{}
	for key, value := range metadata {
		if key, ok := strings.CutPrefix(key, prefix); ok {
			entries[key] = value
		}
	}
	return entries
}

// restoreSource sets a source, unless it is nil, to the checkpoint's position; undo
// sets it back.
func (c checkpointMetadata) restoreSource(source Resumable) (undo func() error, err error) {
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
