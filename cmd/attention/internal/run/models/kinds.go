package models

import (
	"fmt"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
)

// ErrKind returns the error about the folder of a run or a model of another kind than a command wants, with the command
// that takes it.
func (in *Inspection) ErrKind(want string) error {
	switch in.Kind {
	case settings.DatesModel:
		return fmt.Errorf("%s: got a run of attention translate, want %s; this one is for: %s", in.Dir, want,
			program.Command("translate", "--model", in.Dir, "--date", "8/6/63"))
	case settings.LayerModel:
		return fmt.Errorf("%s: got a run of attention train of one layer, want %s; this one is for: %s", in.Dir, want,
			program.Command("generate", "--model", in.Dir, "--prompt", "TEXT"))
	case settings.GPTModel, settings.DecoderModel:
		return fmt.Errorf("%s: got a run of attention train, want %s; this one is for: %s", in.Dir, want,
			program.Command("generate", "--model", in.Dir, "--prompt", "TEXT"))
	}
	return fmt.Errorf("%s: got a model that is no run's, want %s; this one is for: %s", in.Dir, want,
		program.Command("generate", "--model", in.Dir, "--prompt", "TEXT"))
}

// ErrResume returns the error about the folder of a run that a command does not resume, with the one that does.
func (in *Inspection) ErrResume(command string) error {
	other := "train"
	if in.Kind == settings.DatesModel {
		other = "translate"
	} else if in.Config.Tuning != nil {
		other = "finetune"
	}
	return fmt.Errorf("%s: got a run of attention %s, want one of attention %s; resume it with: %s",
		in.Dir, other, command, program.Command(other, "--resume", in.Dir))
}
