package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/train"

	"github.com/spf13/pflag"
)

// besideResume are the flags that may stand beside --resume; the rest is settled by
// the run's config.
var besideResume = []string{"steps", "save-every", "keep", "text", "prompt", "sample"}

// checkBesideResume refuses flags that would make another run of it.
func checkBesideResume(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && f.Name != "resume" && !slices.Contains(besideResume, f.Name) {
			err = fmt.Errorf("--%s: got it beside --resume, want only --%s: the run's %s says the rest",
				f.Name, strings.Join(besideResume, ", --"), run.ConfigFile)
		}
	})
	return err
}

// resumeRun resumes the run of a folder.
func resumeRun(ctx context.Context, w io.Writer, o options, given func(flag string) bool) error {
	if err := o.validateResume(given); err != nil {
		return err
	}
	path, checkpoint := o.resume, ""
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		path, checkpoint = filepath.Dir(filepath.Dir(path)), path
	}
	config, err := run.ReadConfig(path)
	if err != nil {
		return err
	}
	o.change(&config, given)
	f, err := run.OpenFolder(path, config.Checkpoints)
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	r, err := restoreRun(w, f, config, checkpoint)
	if err == nil {
		err = r.config.Write(f)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return r.run(ctx)
}

// change puts what is given beside --resume into the config.
func (o options) change(c *run.Config, given func(flag string) bool) {
	if given("steps") {
		c.Training.Steps = o.steps
	}
	if given("save-every") {
		c.Checkpoints.Every = o.saveEvery
	}
	if given("keep") {
		c.Checkpoints.Keep = o.keep
	}
	if given("sample") {
		c.Sample.Tokens = o.sample
	}
	if given("prompt") {
		c.Sample.Prompt = o.prompt
	}
	if given("text") {
		c.Text.Name = run.TextName(o.text)
	}
}

// restoreRun makes the run of a config anew and moves it to where its newest
// checkpoint, or the given one, stands. Without one it begins from the start.
func restoreRun(w io.Writer, f *run.Folder, config run.Config, checkpoint string) (*training, error) {
	c, err := run.ReadSameCorpus(config)
	if err != nil {
		return nil, err
	}
	r, err := newTraining(w, config, c)
	if err != nil {
		return nil, err
	}
	r.folder = f
	if err := r.restore(checkpoint); err != nil {
		return nil, err
	}
	if taken := r.loop.Steps(); taken > config.Training.Steps {
		return nil, fmt.Errorf("--steps: got %d, want at least the %d that the run has taken", config.Training.Steps, taken)
	}
	if f.Metrics, r.history, err = run.ResumeMetrics(f.Path, r.loop.Steps(), r.loop.Evaluated()); err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	return r, nil
}

func (r *training) restore(checkpoint string) error {
	found, err := true, error(nil)
	if checkpoint == "" {
		found, err = r.folder.Checkpoints.Restore(r.loop, r.training)
	} else {
		err = r.loop.Restore(checkpoint, r.training)
	}
	var damaged *train.DamagedError
	switch {
	case errors.As(err, &damaged) && damaged.Intact != "":
		return fmt.Errorf("--resume: %w; go on from it with: %s", err, run.ResumeCommand(damaged.Intact))
	case err != nil:
		return fmt.Errorf("--resume: %w", err)
	case !found:
		if err := r.requireFresh(); err != nil {
			return err
		}
		if r.config.Init != nil {
			return r.readSameInit()
		}
	}
	return nil
}

// requireFresh returns an error for a run that has trained past its first checkpoint but has none.
func (r *training) requireFresh() error {
	metrics, err := os.ReadFile(filepath.Join(r.folder.Path, run.MetricsFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("--resume: %w", err)
	}
	steps := bytes.Count(metrics, []byte(`"learning_rate"`)) // in the line of each step
	every := r.config.Checkpoints.Every
	_, err = os.Stat(filepath.Join(r.folder.Path, run.ModelFile))
	if err == nil || every > 0 && steps > every {
		return fmt.Errorf("--resume: %s: got no checkpoint of a run that has taken %d steps, want one; begin anew with --config %s",
			r.folder.Path, steps, filepath.Join(r.folder.Path, run.ConfigFile))
	}
	return nil
}

// readSameInit reads the weights that the run began with.
func (r *training) readSameInit() error {
	if _, err := initSource(r.config.Init.Name, r.config.Init.SHA256); err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	return r.readInit()
}
