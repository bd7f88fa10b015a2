package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"attention/train"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar where a person watches, and nothing elsewhere. It is cleared
// before each line that is printed.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(w io.Writer, steps int) *progress {
	f, ok := w.(*os.File)
	if !ok || steps == 0 {
		return &progress{}
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	// "loss 2.345  99% |", the bar, "| (1999/2000) [1h23m45s:1h23m45s]" and room for ^C
	width := min(30, columns-44-2*len(strconv.Itoa(steps)))
	if err != nil || width < 5 { // no terminal, or a narrow one
		return &progress{}
	}
	return &progress{progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetWidth(width),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// step moves the bar. One that cannot be drawn is no reason to stop a run.
func (p *progress) step(s train.Step) {
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("loss %.3f", s.Loss))
		_ = p.bar.Add(1)
	}
}

// clear takes the bar off the line, until the next step.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
