package translate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"attention/cmd/attention/internal/translations"
	"attention/internal/config"
	"attention/train/tasks/dates"
)

// options are the flags of attention translate.
type options struct {
	settings      translations.Settings
	out           string // the run folder; "" for the first free one
	picture       string // a PNG file; "" for one in the run folder
	resume, model string
	dates         []string
	pairs         []dates.Pair // of dates, without ISO dates
	command       string       // the command line
}

// validate returns an error for the first wrong flag. It reads the dates. given reports whether a flag was on the
// command line.
func (o *options) validate(given func(flag string) bool) (err error) {
	for _, from := range []struct{ flag, folder string }{{"resume", o.resume}, {"model", o.model}} {
		if !given(from.flag) {
			continue
		}
		if from.folder == "" {
			return fmt.Errorf("--%s: got nothing, want the folder of a run", from.flag)
		}
		for _, other := range []string{"steps", "batch", "width", "heads", "blocks", "seed", "out", "resume", "model"} {
			if other != from.flag && given(other) {
				return fmt.Errorf("--%s: got it beside --%s, want only --date and --picture: the run's config.json has the rest",
					other, from.flag)
			}
		}
	}
	if given("model") && len(o.dates) == 0 {
		return errors.New("--model: got no --date, want dates to translate")
	}
	if !given("resume") && !given("model") {
		if err := o.settings.Validate(); err != nil {
			return config.Named(err, flagOf)
		}
	}
	if o.pairs, err = ownDates(o.dates); err != nil {
		return err
	}
	return o.checkPaths(given)
}

// checkPaths returns an error if the run folder has a picture's name or the picture cannot be written, before the
// training.
func (o options) checkPaths(given func(flag string) bool) error {
	switch {
	case given("out") && o.out == "":
		return errors.New("--out: got nothing, want the name of a folder")
	case strings.EqualFold(filepath.Ext(o.out), ".png"):
		return fmt.Errorf("--out: got %q, want the run's folder; --picture is for a picture", o.out)
	case given("picture") && o.picture == "":
		return errors.New("--picture: got nothing, want the name of a file")
	case o.picture == "":
		return nil
	}
	if f, err := os.Stat(o.picture); err == nil && f.IsDir() {
		return fmt.Errorf("--picture: %s: is a folder, want a file to write", o.picture)
	}
	if f, err := os.Stat(filepath.Dir(o.picture)); err != nil || !f.IsDir() {
		return fmt.Errorf("--picture: %s: want a file in a folder that is there", o.picture)
	}
	return nil
}
