package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// The keys of the metadata of a run's model, beside formatKey and aboutPrefix.
const (
	stepsKey    = "steps" // taken by the run
	bestStepKey = "best"  // step of the parameters with Config.KeepBest; missing if they are the last ones

	modelFormat = "attention model 1"
)

// ModelMetadata returns the metadata of the model of a run that has taken n steps, for WriteParams. The parameters are
// about these values, as train.Config.About, and are those after step best, or the last ones if that is 0.
func ModelMetadata(about map[string]string, n, best int) map[string]string {
	metadata := map[string]string{formatKey: modelFormat, stepsKey: strconv.Itoa(n)}
	if best > 0 {
		metadata[bestStepKey] = strconv.Itoa(best)
	}
	for key, value := range about {
		metadata[aboutPrefix+key] = value
	}
	return metadata
}

// AboutOf returns what the model is about whose metadata ModelMetadata returned; nil for one of another program.
func AboutOf(metadata map[string]string) (map[string]string, error) {
	about := withPrefix(metadata, aboutPrefix)
	if len(about) == 0 {
		return nil, nil
	}
	if got := metadata[formatKey]; got != modelFormat {
		return nil, fmt.Errorf("format: got %q, want %q: another program wrote the model, and this one does not read it",
			got, modelFormat)
	}
	return about, nil
}

// StepsOf returns the steps that a run had taken when it wrote a model with these metadata; ok is false if they do not
// say.
func StepsOf(metadata map[string]string) (n int, ok bool) {
	n, err := strconv.Atoi(metadata[stepsKey])
	return n, err == nil
}

// FirstOther returns the first of the keys at which two values of train.Config.About differ, or "".
func FirstOther(got, want map[string]string, keys []string) string {
	for _, key := range keys {
		if got[key] != want[key] {
			return key
		}
	}
	return ""
}

// CheckAbout returns an error for the first value got from the file config that differs from the one of train.Config.About
// in the file at path.
func CheckAbout(config, path string, got, want map[string]string) error {
	at := FirstOther(got, want, slices.Sorted(maps.Keys(got)))
	if at == "" {
		return nil
	}
	g, w := cutEqual(got[at], want[at])
	return fmt.Errorf("%s: %s: got %s, want %s, that of %s", config, at, g, w, path)
}

// cutEqual returns two texts, quoted, from shortly before the place where they begin to differ.
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
