package settings

import (
	"fmt"
	"strings"

	"attention/internal/config"

	"github.com/spf13/pflag"
)

// Resume sets the values of the flags that --resume allows in the config of a run, and returns an error for other
// flags.
func (c *Config) Resume(given *pflag.FlagSet) error {
	var allowed []string
	other := ""
	for _, f := range trainFlags() {
		if f.resumed && len(f.paths) > 0 {
			allowed = append(allowed, "--"+f.name)
		}
		if given.Changed(f.name) && !f.resumed && other == "" {
			other = f.name
		}
	}
	if other != "" {
		return fmt.Errorf("--%s: got it beside --resume, want only %s: the run's %s has the rest",
			other, strings.Join(allowed, ", "), ConfigFile)
	}
	v, err := flagValues(given, nil)
	if err != nil {
		return err
	}
	if err := v.Decode(c); err != nil {
		return config.Named(err, flagNames(given))
	}
	return config.Named(c.Validate(), flagNames(given))
}
