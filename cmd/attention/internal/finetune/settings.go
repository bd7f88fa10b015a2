package finetune

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/train"
	"attention/train/text"
)

// begin returns the config of a new run that has not read its base and its examples.
func (o *options) begin() (settings.Config, error) {
	c, t := o.config, o.config.Tuning
	if t.LoRA.Rank == 0 {
		t.LoRA = nil
	} else if t.LoRA.Alpha == 0 {
		t.LoRA.Alpha = float64(2 * t.LoRA.Rank)
	}
	source, err := text.ReadTemplate(o.text("template"))
	if err != nil {
		return c, fmt.Errorf("--template: %w", err)
	}
	t.Template = source
	if _, err := models.Inspect(t.Base.Name); err != nil {
		return c, fmt.Errorf("--model: %w", err)
	}
	if c.Tuning.Base, err = settings.SourceOf(t.Base.Name); err != nil {
		return c, fmt.Errorf("--model: %w", err)
	}
	if err = o.findData(&c); err != nil {
		return c, err
	}
	task, encoder := o.text("task"), models.IsEncoder(t.Base.Name)
	if encoder {
		c.Tuning.Task = task
	}
	switch {
	case encoder && task == settings.AnswerTask:
		return c, fmt.Errorf("--task: got %s with an encoder, want one of %s", task, strings.Join(settings.Tasks[1:], ", "))
	case !encoder && task != settings.AnswerTask && task != settings.ClassifyTask:
		return c, fmt.Errorf("--model: %s: got a model that is no encoder, want BERT or DistilBERT for --task %s",
			t.Base.Name, task)
	case encoder && (o.Flags.Changed("view") || o.Flags.Changed("long") || o.Flags.Changed("sample")):
		return c, errors.New("--model: got an encoder with --view, --long or --sample, which are for models that write")
	case task == settings.ClassifyTask || task == settings.TagTask:
		c.Tuning.Classes, err = classesOf(c.Text.Name, task)
		return c, err
	case encoder:
		return c, nil
	}
	c.Tuning.Date, c.Tuning.Thinking = program.Now().Round(time.Second), haveThoughts(c.Text.Name)
	return c, nil
}

// findData finds the files of examples.
func (o *options) findData(c *settings.Config) (err error) {
	files := []string{o.text("data"), o.text("valid")}
	if settings.IsFolder(files[0]) {
		found, valid, _, err := text.ExampleFiles(files[0])
		if err != nil {
			return fmt.Errorf("--data: %w", err)
		}
		files[0] = found
		files[1] = cmp.Or(files[1], valid)
	}
	if files[0] != "" {
		if c.Text, err = settings.SourceOf(files[0]); err != nil {
			return fmt.Errorf("--data: %w", err)
		}
	}
	if settings.IsFolder(files[1]) {
		return fmt.Errorf("--valid: %s: got a folder, want a file of examples", files[1])
	}
	if files[1] != "" {
		valid, err := settings.SourceOf(files[1])
		if err != nil {
			return fmt.Errorf("--valid: %w", err)
		}
		c.Tuning.Valid = &valid
	}
	return nil
}

// The defaults of --epochs: a run has this many, or more until it has taken the least number of steps. The data of
// testdata/claims/finetune.md need that many at the rate of rateOf; each step repeats some of the examples.
const (
	usualEpochs = 3
	leastSteps  = 100
)

// rateOf returns the default peak learning rate of a model of width E: 0.00005·(2000/E)^0.781, and ten times that for
// adapters. The rule, rounded to two digits, is that of Thinking Machines for Llama-like models ("LoRA Without Regret",
// 2025, and the formula of their Tinker cookbook).
func rateOf(width int, adapters bool) float64 {
	rate := 5e-5 * math.Pow(2000/float64(width), 0.781)
	if adapters {
		rate *= 10
	}
	rate, _ = strconv.ParseFloat(strconv.FormatFloat(rate, 'g', 2, 64), 64) // it can parse this
	return rate
}

// complete fills in the defaults that depend on the model's width and on the number of batches of an epoch.
func (o *options) complete(c *settings.Config, width, batches int) error {
	n, per, given := &c.Training.Steps, max(c.Training.Accumulate, 1), o.Flags.Changed
	if c.Epochs == 0 && !given("epochs") {
		c.Epochs = max(usualEpochs, (leastSteps*per+batches-1)/batches)
	}
	if *n == 0 {
		*n = (c.Epochs*batches + per - 1) / per
	}
	if !given("eval-every") {
		c.Training.EvalEvery = max(1, *n/10)
	}
	s := c.Training.Schedule.Schedule.(train.CosineLR)
	if s.Steps = *n; !given("lr") {
		s.Peak = rateOf(width, c.Tuning.LoRA != nil)
	}
	if !given("min-lr") {
		s.Floor = s.Peak / 10
	}
	if !given("warmup") {
		s.WarmupSteps = min(*n/20, 100)
	}
	c.Training.Schedule.Schedule = s
	return c.Named(o.Flags, c.Validate())
}
