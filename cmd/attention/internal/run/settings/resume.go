package settings

import (
	"fmt"
	"strings"

	"attention/internal/config"

	"github.com/spf13/pflag"
)

// checkResumed returns an error for a flag of a command that --resume does not allow.
func checkResumed(given *pflag.FlagSet, command string) error {
	var allowed []string
	other := ""
	for _, f := range flagsOf(command) {
		if f.resumed && f.name != "resume" {
			allowed = append(allowed, "--"+f.name)
		}
		if given.Changed(f.name) && !f.resumed && other == "" {
			other = f.name
		}
	}
	if other == "" || !given.Changed("resume") {
		return nil
	}
	return fmt.Errorf("--%s: got it beside --resume, want only %s: the run's %s has the rest",
		other, strings.Join(allowed, ", "), ConfigFile)
}

// Resume sets the values of the flags, which CheckFlags accepts, in the config of a run.
func (c *Config) Resume(given *pflag.FlagSet) error {
	v, err := flagValues(given, c.command(), nil)
	if err != nil {
		return err
	}
	if err = v.Decode(c); err == nil {
		err = c.Validate()
	}
	return c.Named(given, err)
}

// command returns the command whose run has the config.
func (c Config) command() string {
	if c.Tuning != nil {
		return Finetune
	}
	return Train
}

// Named returns err, about the config of a run, with the flag that sets the wrong value.
func (c Config) Named(set *pflag.FlagSet, err error) error {
	return config.Named(err, flagNames(set, c.command()))
}

// Tuned returns the config of a new run of attention finetune that has not read its base and its examples: the values of
// its flags, and defaults.
func Tuned(flags *pflag.FlagSet) (c Config, err error) {
	given, err := flagValues(flags, Finetune, nil)
	if err != nil {
		return c, err
	}
	c = tuningDefaults()
	all, err := config.ValuesOf(c)
	if err != nil {
		return c, err
	}
	all.Merge(given, nil)
	return c, c.Named(flags, all.Decode(&c))
}
