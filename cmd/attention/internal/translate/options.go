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
	out           string
	picture       string // out, if it is a PNG file
	folder        string // out, if it is the run folder
	resume, model string
	dates         []string
	pairs         []dates.Pair // of dates, without ISO dates
	command       string       // the command line
}

// validate returns an error for the first wrong flag. It reads the dates, and finds out whether --out is a picture or a
// folder. given reports whether a flag was on the command line.
func (o *options) validate(given func(flag string) bool) (err error) {
	if strings.EqualFold(filepath.Ext(o.out), ".png") {
		o.picture = o.out
	} else {
		o.folder = o.out
	}
	for _, from := range []struct{ flag, folder string }{{"resume", o.resume}, {"model", o.model}} {
		if !given(from.flag) {
			continue
		}
		if from.folder == "" {
			return fmt.Errorf("--%s: got nothing, want the folder of a run", from.flag)
		}
		for _, other := range []string{"steps", "batch", "width", "heads", "blocks", "seed", "resume", "model"} {
			if other != from.flag && given(other) {
				return fmt.Errorf("--%s: got it beside --%s, want only --date and --out: the run's config.json has the rest",
					other, from.flag)
			}
		}
		if o.folder != "" {
			return fmt.Errorf("--out: got %q beside --%s, want a file that ends in .png", o.out, from.flag)
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
	return o.checkOut(given("out"))
}

// checkOut returns an error if the picture cannot be written, before the training.
func (o options) checkOut(given bool) error {
	if given && o.out == "" {
		return errors.New("--out: got nothing, want the name of a file or folder")
	}
	if o.picture == "" {
		return nil
	}
	if f, err := os.Stat(o.out); err == nil && f.IsDir() {
		return fmt.Errorf("--out: %s: is a folder, want a file to write", o.out)
	}
	if f, err := os.Stat(filepath.Dir(o.out)); err != nil || !f.IsDir() {
		return fmt.Errorf("--out: %s: want a file in a folder that is there", o.out)
	}
	return nil
}
