package translate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"attention/cmd/attention/internal/run/settings"
	"attention/train/tasks/dates"

	"github.com/spf13/pflag"
)

// options are the flags of attention translate.
type options struct {
	flags *pflag.FlagSet
	settings.Config
	pairs []dates.Pair // values of --date, without dates in ISO form
}

// text returns the text of a flag.
func (o *options) text(flag string) string { return o.flags.Lookup(flag).Value.String() }

// read reads the flags and the dates. It returns an error for the first wrong flag.
func (o *options) read() (err error) {
	if o.Config, err = settings.OfFlags(o.flags, settings.Translate); err != nil {
		return err
	}
	if err := o.Named(o.flags, o.Validate()); err != nil {
		return err
	}
	written, err := o.flags.GetStringArray("date")
	if err != nil {
		return err
	}
	if o.text("model") != "" && len(written) == 0 {
		return errors.New("--model: got no --date, want dates to translate")
	}
	if o.pairs, err = ownDates(written); err != nil {
		return err
	}
	return o.checkPaths()
}

// checkPaths returns an error before the training if the picture cannot be written, or if its path is that of the run
// folder.
func (o *options) checkPaths() error {
	out, picture := o.text("out"), o.text("picture")
	if strings.EqualFold(filepath.Ext(out), ".png") {
		return fmt.Errorf("--out: got %q, want the run's folder; --picture is for a picture", out)
	}
	if picture == "" {
		return nil
	}
	if f, err := os.Stat(picture); err == nil && f.IsDir() {
		return fmt.Errorf("--picture: %s: is a folder, want a file to write", picture)
	}
	if f, err := os.Stat(filepath.Dir(picture)); err != nil || !f.IsDir() {
		return fmt.Errorf("--picture: %s: want a file in a folder that is there", picture)
	}
	return nil
}
