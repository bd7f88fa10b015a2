package flags

import (
	"attention/cmd/attention/internal/program"

	"github.com/spf13/pflag"
)

// CommandLine returns the command line that gave a set of flags, as a shell reads it.
func CommandLine(command string, set *pflag.FlagSet) string {
	words := []string{"attention", command}
	set.Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		switch {
		case isList:
			for _, value := range list.GetSlice() {
				words = append(words, "--"+f.Name, value)
			}
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"="+f.Value.String())
		default:
			words = append(words, "--"+f.Name, f.Value.String())
		}
	})
	return program.Shell(words...)
}
