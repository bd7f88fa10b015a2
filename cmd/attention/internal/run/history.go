package run

import "attention/train"

// History is what a run showed.
type History struct {
	Steps       []train.Step
	Evaluations []train.Evaluation
}

// evaluated is the number of steps before the last evaluation, or 0.
func (h History) evaluated() int {
	if len(h.Evaluations) == 0 {
		return 0
	}
	return h.Evaluations[len(h.Evaluations)-1].Step
}

// Recent is the mean loss of the last steps, and the rate they were taken at.
func (h History) Recent() (loss, tokensPerSecond float64) {
	steps := h.Steps[max(0, len(h.Steps)-recentSteps):]
	seconds := 0.0 // per token
	for _, s := range steps {
		loss += s.Loss / float64(len(steps))
		seconds += 1 / s.TokensPerSecond / float64(len(steps))
	}
	return loss, 1 / seconds
}

// recentSteps is how many steps a training loss is a mean over.
const recentSteps = 50
