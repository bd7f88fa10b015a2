// Package record records how the weights of a run change: before the first step, at each evaluation and after the last
// step. Open makes a loop.Loop record to the files of a folder. Read reads the files, also while the run trains or
// after it was killed.
//
// watch.jsonl has a line for each record, a JSON object:
//
//	step     steps taken before it, ascending
//	params   a list with an object for each parameter, in their order, of Euclidean norms:
//	         name, norm, change (since the last record), change_from_start (since the first
//	         one), gradient (of the last step's gradient before clipping; null if there is none:
//	         before the first step, and of a parameter that is not trained)
//	numbers  lists of numbers by their names, as the caller's Probe gives them; missing without
//
// Numbers have the digits of a float32; null stands for one that is not finite. The last line of a killed run may be
// incomplete.
//
// watch.safetensors has tensors of M of the records and a checksum like that of a checkpoint:
//
//	probe.NAME    float32 (M, …): a tensor of the caller's Probe, such as attention weights
//	matrix.NAME   float32 (M, rows, columns): the upper left part of the parameter NAME
//
// Its metadata are format ("attention watch 1"), steps (of those records: a JSON list, ascending)
// and the notes of the caller's Probe, each after "notes.".
//
// The files, their format and the keys of a checkpoint use the name watch, although the code uses record, because
// formats do not change.
//
// All sizes are limited. A record has the first 2048 parameters and at most 16384 numbers. If a parameter has more than
// 65536 elements, its changes are estimated from 65536 of them, spread evenly: their norm times √(elements/65536).
// After 4096 evaluations only every second has a record, after 8192 every fourth, and so on. watch.jsonl has at most 32
// MiB: when it is half full only every second evaluation has a record, at two thirds every fourth, at three quarters
// every eighth, and so on; the last record always fits. The tensors of a record have at most 131072 numbers, and a
// matrix 64 rows and columns. The tensors of at most 32 records are kept: the first, the last, and evenly spread
// records between them. The file therefore has at most 16 MiB. The file is written with each checkpoint and at the end;
// in between, writing takes at most 1/200 of the time. A checkpoint holds the measured elements as they were at the
// start and at the last record.
//
// A file that is removed during a run is written again. A run that resumes without watch.jsonl starts a new file. One
// that resumes without watch.safetensors keeps the tensors of later records only. A file that was truncated before the
// checkpoint's record is an error, which says that the run can resume without the file.
package record
