package reversal

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"attention/internal/dense"
	"attention/layers"
	"attention/train/tasks"

	"gorgonia.org/tensor"
)

// Writing is the output of a model for a string.
type Writing struct {
	Text  string      // as many letters as the string has; $ is the end
	Sure  []float64   // the probability that the model gives each letter that it writes
	Heads [][]float64 // weights (T, S) of each head, from each letter to each letter of the string and its end
	State []float64   // the only input from the string of a model without attention; nil with attention
}

// Writer writes strings backwards, one at a time. Several goroutines may use it.
type Writer struct {
	mutex   sync.Mutex // guards the fields below
	strings *Strings
	shown   *layers.Func
}

// NewWriter makes the writer of a model, whose parameters must no longer change.
func NewWriter(m *Model) (*Writer, error) {
	f, err := layers.NewFunc(m.Params(), m.shown, layers.FuncConfig{})
	return &Writer{strings: NewStrings(1, nil), shown: f}, err
}

// Write returns the model's output for a text of 1 to Longest of Letters, with the most probable letter each time.
func (w *Writer) Write(ctx context.Context, text string) (out Writing, err error) {
	n := len(text)
	if n < 1 || n > Longest {
		return out, fmt.Errorf("text: got %d letters, want 1 to %d", n, Longest)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(Letters, r) }); i >= 0 {
		return out, fmt.Errorf("text: got %.20q, want letters from %c to %c", text[i:], Letters[0],
			Letters[len(Letters)-1])
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.strings.set(0, n, func(i int) int { return strings.IndexByte(Letters, text[i]) })
	return w.write(ctx, n)
}

func (w *Writer) write(ctx context.Context, n int) (out Writing, err error) {
	var values []*tensor.Dense
	ids, err := tasks.Greedy(w.strings.target[:n], 1, func() (ids []int, err error) {
		if values, err = w.shown.Call(ctx, w.strings.batch.Inputs); err != nil {
			return nil, err
		}
		ids, out.Sure = likeliest(dense.Float64s(values[0])[:n*vocab])
		return ids, nil
	})
	if err != nil {
		return Writing{}, err
	}
	out.Text = spell(ids)
	out.Heads, out.State = headsAndState(values, n)
	return out, nil
}

// likeliest returns the likeliest letter of each row of logits, and its probability.
func likeliest(logits []float64) (ids []int, sure []float64) {
	for row := range slices.Chunk(logits, vocab) {
		top, sum := slices.Max(row), 0.0
		for _, v := range row {
			sum += math.Exp(v - top)
		}
		ids, sure = append(ids, slices.Index(row, top)), append(sure, 1/sum)
	}
	return ids, sure
}
