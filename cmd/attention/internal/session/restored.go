package session

import (
	"fmt"

	"attention/internal/simd"
	"attention/train/checkpoint"
)

// differences returns a line for each difference between the program that wrote a checkpoint and this one.
func differences(r *checkpoint.Restored) (lines []string) {
	if r.Kernels != "" {
		lines = append(lines, fmt.Sprintf("the checkpoint was written with the kernels %.20q, not %q: "+
			"bits may differ from those of a run that never stopped", r.Kernels, simd.InstructionSet()))
	}
	if r.Precision != "" {
		lines = append(lines, fmt.Sprintf("the checkpoint was written in the precision %.20q, which now is another: "+
			"bits differ from those of a run that never stopped", r.Precision))
	}
	return lines
}

// newestIn returns the path of the newest checkpoint in a folder of checkpoints, or "" if there is none.
func newestIn(folder string) (string, error) {
	steps, err := checkpoint.Steps(folder)
	if err != nil || len(steps) == 0 {
		return "", err
	}
	return checkpoint.Path(folder, steps[len(steps)-1]), nil
}
