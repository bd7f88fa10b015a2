// Package checkpoint saves all that a loop.Loop needs to resume to files, and restores it: a run that was
// stopped or killed and resumed from a checkpoint gives the bits of one that was not. A Folder is the
// newest checkpoints of one run: Loop.SaveTo makes Run save to it. The format is in
// save.go.
//
// The package also writes and reads the parameters of a model (WriteParams, ReadParams), and tensors
// by their names (WriteTensors, ReadTensors), as files that PyTorch's safetensors reads and writes.
package checkpoint
