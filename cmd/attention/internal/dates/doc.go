// Package dates is the model of attention translate, an encoder and a decoder of dates, and the pairs that it learns
// from. The command that trains it and the one that shows its attention share it.
package dates
