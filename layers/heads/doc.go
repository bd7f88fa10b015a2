// Package heads looks at calls of attention after a run, head by head, from the values of their operands:
//
//	Keep, KeepLinear   copy the operands of a call, which then outlive its graph and its machine
//	Of, Shown          return the numbers of one head, and the keys that its queries see
//	Stats              computes the statistics of one head's weights in memory of one head
//	Implied            computes the weights that a head's state implies, in linear attention
//	Record             sums up the statistics of all heads of a model, for records of a training
//
// Operands are those of layers.AttentionCall and layers.LinearCall.
package heads
