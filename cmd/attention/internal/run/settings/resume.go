package settings

import (
	"fmt"
	"strings"

	"attention/internal/config"

	"github.com/spf13/pflag"
)

// checkResumed returns an error for a flag of a command that another flag, such as --resume, does not allow.
func checkResumed(given *pflag.FlagSet, command string) error {
	var allowed, others []string
	run := ""
	for _, f := range flagsOf(command) {
		switch {
		case f.resumed:
			allowed = append(allowed, "--"+f.name)
		case !given.Changed(f.name):
		case f.instead && run == "":
			run = f.name
		default:
			others = append(others, f.name)
		}
	}
	if run == "" || len(others) == 0 {
		return nil
	}
	return fmt.Errorf("--%s: got it beside --%s, want only %s: the run's %s has the rest",
		others[0], run, strings.Join(allowed, ", "), ConfigFile)
}

// Resume sets the values of the flags, which CheckFlags accepts, in the config of a run.
func (c *Config) Resume(given *pflag.FlagSet) error {
	v, err := flagValues(given, c.Command(), nil)
	if err != nil {
		return err
	}
	if err = v.Decode(c); err == nil {
		err = c.Validate()
	}
	return c.Named(given, err)
}

// Command returns the command whose run has the config.
func (c Config) Command() string {
	switch {
	case c.Model.Dates != nil:
		return Translate
	case c.Tuning != nil:
		return Finetune
	}
	return Train
}

// Named returns err, about the config of a run, with the flag that sets the wrong value.
func (c Config) Named(set *pflag.FlagSet, err error) error {
	return config.Named(err, flagNames(set, c.Command()))
}

// OfFlags returns the config of a new run of attention finetune, which has not read its base and its examples, or of
// attention translate: the values of its flags, which it checks, and defaults.
func OfFlags(flags *pflag.FlagSet, command string) (c Config, err error) {
	if err := CheckFlags(flags, command); err != nil {
		return c, err
	}
	given, err := flagValues(flags, command, nil)
	if err != nil {
		return c, err
	}
	c = defaultsOf(command, "", "")
	all, err := config.ValuesOf(c)
	if err != nil {
		return c, err
	}
	all.Merge(given, nil)
	return c, c.Named(flags, all.Decode(&c))
}
