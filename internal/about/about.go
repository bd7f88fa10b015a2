// Package about stores the values of loop.Config.About, which describe a model and its data, in the metadata of files,
// and compares them.
package about

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Prefix is put before the keys of these values in a file's metadata.
const Prefix = "about."

// The other keys of the metadata of a run's model.
const (
	formatKey   = "format"
	stepsKey    = "steps" // steps that the run has taken
	bestStepKey = "best"  // step of the parameters with loop.Config.KeepBest; missing if they are the last ones

	modelFormat = "attention model 2"
)

// ModelMetadata returns the metadata for the model file of a run after n steps: the run's values and best, the step of
// its parameters, which is 0 for the last ones.
func ModelMetadata(values map[string]string, n, best int) map[string]string {
	metadata := map[string]string{formatKey: modelFormat, stepsKey: strconv.Itoa(n)}
	if best > 0 {
		metadata[bestStepKey] = strconv.Itoa(best)
	}
	Put(metadata, Prefix, values)
	return metadata
}

// Put adds values to metadata, with a prefix before their keys.
func Put(metadata map[string]string, prefix string, values map[string]string) {
	for key, value := range values {
		metadata[prefix+key] = value
	}
}

// Get returns the metadata whose keys have a prefix, without the prefix.
func Get(metadata map[string]string, prefix string) map[string]string {
	values := map[string]string{}
	for key, value := range metadata {
		if key, ok := strings.CutPrefix(key, prefix); ok {
			values[key] = value
		}
	}
	return values
}

// OfModel returns the values in the metadata of a run's model; nil for a model that another program wrote.
func OfModel(metadata map[string]string) (map[string]string, error) {
	values := Get(metadata, Prefix)
	if len(values) == 0 {
		return nil, nil
	}
	if got := metadata[formatKey]; got != modelFormat {
		return nil, fmt.Errorf("format: got %q, want %q: another program wrote the model, and this one does not read it",
			got, modelFormat)
	}
	return values, nil
}

// Steps returns the number of steps that a run had taken when it wrote a model with these metadata; ok is false if they
// have none.
func Steps(metadata map[string]string) (n int, ok bool) {
	n, err := strconv.Atoi(metadata[stepsKey])
	return n, err == nil
}

// FirstDifference returns the first of the keys whose values differ, or "".
func FirstDifference(got, want map[string]string, keys []string) string {
	for _, key := range keys {
		if got[key] != want[key] {
			return key
		}
	}
	return ""
}

// Check returns an error for the first value in the file config that differs from the value in the weights' file at
// path.
func Check(config, path string, got, want map[string]string) error {
	at := FirstDifference(got, want, slices.Sorted(maps.Keys(got)))
	if at == "" {
		return nil
	}
	g, w := cutEqual(got[at], want[at])
	return fmt.Errorf("%s: %s: got %s, want %s, that of %s", config, at, g, w, path)
}

// cutEqual returns two quoted texts without their long common beginning.
func cutEqual(a, b string) (string, string) {
	const before, most = 8, 40
	x, y := []rune(a), []rune(b)
	at := 0
	for at < min(len(x), len(y)) && x[at] == y[at] {
		at++
	}
	cut := func(r []rune) string {
		begin := max(0, at-before)
		text := strconv.Quote(string(r[begin:min(len(r), begin+most)]))
		if begin > 0 {
			text = "…" + text
		}
		return text
	}
	return cut(x), cut(y)
}
