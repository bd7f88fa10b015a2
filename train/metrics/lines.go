// Package metrics writes and reads metrics.jsonl, the steps and evaluations of a run: a line for each, a JSON object.
// Two runs with the same bits have the same lines but for tokens_per_second.
package metrics

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"attention/internal/folder"
	"attention/train"
)

// FileName is the name of the file in the folder of a run.
const FileName = "metrics.jsonl"

// Line is a line of metrics.jsonl: a step or, if it has a validation loss, an evaluation.
type Line struct {
	train.StepResult
	ValidationLoss *float64 `json:"validation_loss"`
	text           []byte   // with its end; valid until the next line
}

// Evaluation returns the evaluation of a line; ok is false for the line of a step.
func (l Line) Evaluation() (e train.Evaluation, ok bool) {
	if l.ValidationLoss == nil {
		return e, false
	}
	return train.Evaluation{Step: l.Step, Loss: *l.ValidationLoss}, true
}

// errCut is the error for a last line without its end: it is being written, or its writer was killed.
var errCut = errors.New("want a whole line")

// lines yields the lines of metrics.jsonl. The first error is the last element, with the text of its line.
func lines(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := bufio.NewReaderSize(r, folder.MaxLine)
		for {
			line, err := nextLine(in)
			if errors.Is(err, io.EOF) || !yield(line, err) || err != nil {
				return
			}
		}
	}
}

func nextLine(in *bufio.Reader) (l Line, err error) {
	text, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return l, fmt.Errorf("got more than %d bytes, want a shorter line", folder.MaxLine)
	case errors.Is(err, io.EOF) && len(text) > 0:
		return Line{text: text}, errCut
	case err != nil:
		return l, err
	}
	if json.Unmarshal(text, &l) != nil {
		err = fmt.Errorf("got the line %.50q, want a JSON object of numbers", text)
	}
	l.text = text
	return l, err
}
