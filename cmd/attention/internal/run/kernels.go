package run

import (
	"fmt"
	"io"

	"attention/internal/kernel"
	"attention/train"
)

// NoteKernels prints a line if other kernels, or a program that adds gradients in another order, wrote the checkpoint
// that the loop was restored from.
func NoteKernels(notes io.Writer, l *train.Loop) {
	if kernels := l.OtherKernels(); kernels != "" {
		fmt.Fprintf(notes, "attention: --resume: the checkpoint was written with the kernels %.20q, not %q: "+
			"bits may differ from those of a run that never stopped\n", kernels, kernel.InstructionSet())
	}
	if precision := l.OtherPrecision(); precision != "" {
		fmt.Fprintf(notes, "attention: --resume: the checkpoint was written in the precision %.20q, which now is another: "+
			"bits differ from those of a run that never stopped\n", precision)
	}
	if l.OtherSums() {
		fmt.Fprintln(notes, "attention: --resume: the checkpoint is of a program that added the gradients "+
			"of a step's batches one after the other, not in a tree: bits differ from those of that program")
	}
}
