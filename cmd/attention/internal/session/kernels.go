package session

import (
	"fmt"
	"io"

	"attention/internal/kernel"
	"attention/train/checkpoint"
)

// NoteKernels prints a line if the checkpoint that a loop was restored from was written with other kernels, or in
// another precision; r is nil without a checkpoint.
func NoteKernels(notes io.Writer, r *checkpoint.Restored) {
	if r == nil {
		return
	}
	if kernels := r.Kernels; kernels != "" {
		fmt.Fprintf(notes, "attention: --resume: the checkpoint was written with the kernels %.20q, not %q: "+
			"bits may differ from those of a run that never stopped\n", kernels, kernel.InstructionSet())
	}
	if precision := r.Precision; precision != "" {
		fmt.Fprintf(notes, "attention: --resume: the checkpoint was written in the precision %.20q, which now is another: "+
			"bits differ from those of a run that never stopped\n", precision)
	}
}
