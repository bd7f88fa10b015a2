package finetune

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/view/live"
)

// options are the flags of attention finetune in one process.
type options struct {
	live.Command
	config settings.Config // that they set
	show   int64           // of --show
}

// text returns the text of a flag.
func (o *options) text(flag string) string { return o.Flags.Lookup(flag).Value.String() }

// check reads the flags, and returns an error for flags that are missing or do not go together.
func (o *options) check() (err error) {
	if o.config, err = settings.OfFlags(o.Flags, settings.Finetune); err != nil {
		return err
	}
	if o.show, err = o.Flags.GetInt64("show"); err != nil {
		return err
	}
	given, t, lora, task := o.Flags.Changed, o.config.Tuning, o.config.Tuning.LoRA, o.text("task")
	switch {
	case given("resume"):
		return nil
	case given("base"):
		return errors.New("--base: got it without --resume, want --model")
	case t.Base.Name == "":
		return errors.New("--model: missing, want the folder of the model to tune")
	case o.text("data") == "":
		return errors.New("--data: missing, want a file of examples, or a folder with them")
	case lora.Rank < 0:
		return fmt.Errorf("--lora: got %d, want at least 1, or 0 for the whole model", lora.Rank)
	case lora.Rank == 0 && (given("targets") || given("whole") || given("rslora") || lora.Alpha+lora.Dropout > 0):
		return errors.New("--lora: got 0 with flags of adapters, want a rank")
	case !slices.Contains(settings.Tasks, task):
		return fmt.Errorf("--task: got %.40q, want one of %s", task, strings.Join(settings.Tasks, ", "))
	case task != settings.AnswerTask && (given("template") || t.TrainOnPrompts || o.show > 0):
		return fmt.Errorf("--task: got %s with --template, --train-on-prompts or --show, which are of conversations", task)
	case task != settings.EmbedTask && given("mini-batch"):
		return fmt.Errorf("--mini-batch: got it with --task %s, want it with %s", task, settings.EmbedTask)
	case o.show < 0:
		return fmt.Errorf("--show: got %d, want at least 0", o.show)
	}
	return nil
}
