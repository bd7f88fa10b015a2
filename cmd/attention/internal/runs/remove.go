package runs

import (
	"errors"
	"fmt"
	"path/filepath"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/internal/oneline"

	"github.com/spf13/cobra"
)

const removeHelp = `Remove runs by their names in the folder runs: first is runs/first. The command
refuses a run in progress, a folder with files that no run writes, a link, and
every path outside runs. If it refuses one, it removes none. Removed runs cannot
be restored.`

const removeExample = `  attention runs remove first
  attention runs remove 1 2 runs/3`

// newRemove returns the command attention runs remove.
func newRemove() *cobra.Command {
	return &cobra.Command{
		Use:                   "remove NAME…",
		Short:                 "Remove runs in the folder runs",
		Long:                  removeHelp,
		Example:               removeExample,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, names []string) error {
			out := term.NewOutput(cmd.OutOrStdout())
			doomed, err := doomedOf(names)
			if err != nil {
				return err
			}
			for i, d := range doomed {
				if err := d.Remove(); err != nil {
					return oneline.Join(err, keep(doomed[i+1:]))
				}
				fmt.Fprintf(out, "removed %s\n", filepath.Join(models.Runs, filepath.Base(names[i])))
			}
			return out.Err()
		},
	}
}

// doomedOf locks the runs with these names for removal, all or none.
func doomedOf(names []string) (all []*session.Doomed, err error) {
	if len(names) == 0 {
		return nil, errors.New("got no name, want those of runs in the folder runs")
	}
	for _, name := range names {
		d, err := doomedNamed(name)
		if err != nil {
			return nil, oneline.Join(err, keep(all))
		}
		all = append(all, d)
	}
	return all, nil
}

// doomedNamed locks the run with a name, which may include the folder of runs, for removal.
func doomedNamed(name string) (*session.Doomed, error) {
	path := filepath.Clean(name)
	if parent := filepath.Dir(path); parent == models.Runs {
		path = filepath.Base(path)
	}
	if filepath.Base(path) != path || !filepath.IsLocal(path) || path == "." {
		return nil, fmt.Errorf("got %q, want the name of a run in the folder %s", name, models.Runs)
	}
	return session.Doom(models.Runs, path)
}

func keep(all []*session.Doomed) error {
	var errs []error
	for _, d := range all {
		errs = append(errs, d.Keep())
	}
	return oneline.Join(errs...)
}
