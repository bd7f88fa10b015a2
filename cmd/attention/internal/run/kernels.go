package run

import (
	"fmt"
	"io"

	"attention/train"
)

// NoteKernels prints a line if a processor with other kernels wrote the checkpoint that the loop was restored from.
func NoteKernels(notes io.Writer, l *train.Loop) {
	if kernels := l.OtherKernels(); kernels != "" {
		fmt.Fprintf(notes, "attention: --resume: the checkpoint was written with the kernels %.20q, not this processor's: "+
			"bits may differ from those of a run that never stopped\n", kernels)
	}
}
