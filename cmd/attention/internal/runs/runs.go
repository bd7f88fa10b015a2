// Package runs is the command attention runs, which lists the runs of attention train and attention translate, and
// compares them.
package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/internal/folder"

	"github.com/spf13/cobra"
)

const help = `List runs, the oldest first. A DIR is a run's folder or a folder of runs; the
default is runs.

  DATE     when the run began
  STATE    running; finished; stopped, by a signal, with a checkpoint to resume
           from; failed; or unfinished, which was killed
  STEPS    taken; 120/300 if the model is that of step 120 (train --best)
  MODEL    gpt, the layer of attention, or dates, that of attention translate
  PARAMS   number of parameters
  TRAIN    training loss: mean of the model's last 50 steps, in nats per token,
           for dates per character
  VALID    last validation loss, or the model's. Losses can be compared only
           between runs on one text with one kind of token
  TIME     duration of all sessions of the run

If a run's report.json lacks a value, as after a kill, it comes from config.json
or metrics.jsonl, or is "-". A folder that is not a run's, or is damaged, gives
a note on the standard error. --json prints one line per run with everything
that is known about it: also the text, the planned steps, the losses of the
baselines, and for each session its program, command line and sample. Listing
does not disturb a run. runs compare prints the settings in which runs differ,
and runs remove removes runs; write ./compare or ./remove for a folder of that
name.`

const example = `  attention runs
  attention runs runs/first runs/second
  attention runs compare first second
  attention runs remove first
  attention runs --json | jq -s 'min_by(.losses.validation).folder'`

// New returns the command attention runs.
func New() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "runs [DIR…] | runs compare RUN RUN… | runs remove NAME…",
		Short:                 "List, compare and remove runs",
		Long:                  help,
		Example:               example,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, dirs []string) error {
			folders, err := foldersOf(dirs)
			if err != nil {
				return err
			}
			out := term.NewOutput(cmd.OutOrStdout())
			all := summarize(folders, cmd.ErrOrStderr())
			if asJSON {
				enc := json.NewEncoder(out)
				for _, s := range all {
					if err := enc.Encode(s); err != nil {
						return cmp.Or(out.Err(), err)
					}
				}
				return nil
			}
			printTable(out, all)
			return out.Err()
		},
	}
	cmd.AddCommand(newCompare(), newRemove())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for each run, one on a line")
	return cmd
}

// foldersOf returns the run folders among dirs and in dirs.
func foldersOf(dirs []string) (folders []string, err error) {
	if len(dirs) == 0 {
		dirs = []string{models.Runs}
		if _, err := os.Stat(models.Runs); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("got no folder runs, want one or a DIR; %s makes it", program.Command("train"))
		}
	}
	for _, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, settings.ConfigFile)); err == nil {
			folders = append(folders, dir)
			continue
		}
		names, err := folder.Names(dir)
		if err != nil {
			return nil, fmt.Errorf("%w, want a folder of runs", err)
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				folders = append(folders, path)
			}
		}
	}
	return folders, nil
}

// summarize reads the summaries of folders, the oldest first and those without a date before them. It prints a note
// about folders that it cannot read.
func summarize(folders []string, notes io.Writer) (all []session.Summary) {
	for _, path := range folders {
		s, err := session.Summarize(path)
		if err != nil {
			program.Note(notes, "%s", term.OneLine(err))
			continue
		}
		all = append(all, s)
	}
	sortByDate(all)
	return all
}

// sortByDate sorts summaries, the oldest first and those without a date before them.
func sortByDate(all []session.Summary) {
	slices.SortStableFunc(all, func(a, b session.Summary) int {
		switch {
		case a.Begin != nil && b.Begin != nil:
			return a.Begin.Compare(*b.Begin)
		case a.Begin != nil:
			return 1
		case b.Begin != nil:
			return -1
		}
		return 0
	})
}
