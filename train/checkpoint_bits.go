package train

import "attention/internal/kernel"

// OtherKernels returns the kernels that wrote the checkpoint that the loop was restored
// from, "avx512", "avx2", "neon" or "go", if others run now. These sum in another order:
// the coming steps give other bits than those of a run that never stopped. It returns ""
// if they are the same, or not known, as for files of older programs.
func (l *Loop) OtherKernels() string {
	if l == nil || l.savedWith == kernel.InstructionSet() {
		return ""
	}
	return l.savedWith
}

// OtherSums reports whether the program that wrote the checkpoint that the loop was restored
// from added the gradients of a step's batches, four or more, one after the other and not in
// a tree: the coming steps give other bits than there.
func (l *Loop) OtherSums() bool {
	return l != nil && l.step != nil && l.step.taken > 0 && l.savedSums != treeSums && l.config.Accumulate >= treeBatches
}

// OtherPrecision returns the precision of the products that wrote the checkpoint that the loop was restored from,
// "full" or "bf16", if the loop's is another one. It returns "" if they are the same.
func (l *Loop) OtherPrecision() string {
	if l == nil || l.step == nil || l.savedPrecision == l.step.program.precision.String() {
		return ""
	}
	return l.savedPrecision
}
