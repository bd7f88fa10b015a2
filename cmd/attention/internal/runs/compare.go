package runs

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"

	"github.com/spf13/cobra"
)

const compareHelp = `Compare runs. The command prints their rows of attention runs, the settings in
which their config.json files differ, with one value for each run in the order
of the rows, and the run with the lowest validation loss. A run is a folder, or
its name in the folder runs. Losses can be compared only between runs on one
text with one kind of token; otherwise a line says so.`

const compareExample = `  attention runs compare first second
  attention runs compare runs/1 runs/2 other/run`

// newCompare returns the command attention runs compare.
func newCompare() *cobra.Command {
	return &cobra.Command{
		Use:                   "compare RUN RUN…",
		Short:                 "Print the settings in which runs differ",
		Long:                  compareHelp,
		Example:               compareExample,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) < 2 {
				return fmt.Errorf("got %s, want two or more", settings.Count(len(names), "run"))
			}
			out := term.NewOutput(cmd.OutOrStdout())
			var all []session.Summary
			for _, name := range names {
				s, err := session.Summarize(pathOf(name))
				if err != nil {
					return err
				}
				all = append(all, s)
			}
			sortByDate(all)
			if err := printComparison(out, all); err != nil {
				return err
			}
			return out.Err()
		},
	}
}

// pathOf returns the path of a run by its name: a folder, or one in the folder of runs.
func pathOf(name string) string {
	if _, err := os.Stat(name); err != nil && filepath.Base(name) == name {
		return filepath.Join(models.Runs, name)
	}
	return name
}

// printComparison prints the rows of runs, the settings in which they differ, and which validation loss is the lowest.
func printComparison(w io.Writer, all []session.Summary) error {
	printTable(w, all)
	settings, err := settingsOf(all)
	if err != nil {
		return err
	}
	fmt.Fprintln(w)
	if len(settings) == 0 {
		fmt.Fprintln(w, "Their settings are the same.")
	}
	width := 0
	for path := range settings {
		width = max(width, len(path))
	}
	comparable := true
	for _, path := range slices.Sorted(maps.Keys(settings)) {
		var phrases []string
		for _, value := range settings[path] {
			phrases = append(phrases, shortValue(value), "|")
		}
		io.WriteString(w, term.Fill(fmt.Sprintf("%-*s  ", width, term.Line(path)), phrases[:len(phrases)-1]...))
		comparable = comparable && path != "text.sha256" && !strings.HasPrefix(path, "vocabulary.")
	}
	printLowest(w, all, comparable)
	return nil
}

// settingsOf returns the values of each setting in which runs differ, by its path in config.json.
func settingsOf(all []session.Summary) (map[string][]string, error) {
	settings := map[string][]string{}
	for i, s := range all {
		in, err := models.Inspect(s.Folder)
		if err != nil {
			return nil, err
		}
		values, err := in.Values()
		if err != nil {
			return nil, err
		}
		for path, value := range values {
			text, err := json.Marshal(value.JSON)
			if err != nil {
				return nil, err
			}
			if settings[path] == nil {
				settings[path] = slices.Repeat([]string{"-"}, len(all))
			}
			settings[path][i] = string(text)
		}
	}
	maps.DeleteFunc(settings, func(_ string, values []string) bool {
		return !slices.ContainsFunc(values, func(value string) bool { return value != values[0] })
	})
	return settings, nil
}

// shortValue returns the text of a value, without the middle of a long one.
func shortValue(text string) string {
	const most = 24
	r := []rune(term.Line(text))
	if len(r) <= most {
		return string(r)
	}
	return string(r[:most/2]) + "…" + string(r[len(r)-most/2+1:])
}

// printLowest prints which run has the lowest validation loss, if all losses are comparable.
func printLowest(w io.Writer, all []session.Summary, comparable bool) {
	if !comparable {
		fmt.Fprint(w, "\nTheir losses do not compare: the texts or the tokens differ.\n")
		return
	}
	var lowest *session.Summary
	for i, s := range all {
		if s.Losses.Validation == nil {
			return
		}
		if lowest == nil || *s.Losses.Validation < *lowest.Losses.Validation {
			lowest = &all[i]
		}
	}
	fmt.Fprintf(w, "\nThe lowest validation loss is that of %s: %s\n", term.Line(lowest.Folder),
		loss(lowest.Losses.Validation))
}
