package term

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress is a progress bar on a terminal; elsewhere it does nothing. Clear it before printing a line.
type Progress struct {
	bar     *progressbar.ProgressBar
	n, done int       // steps
	began   time.Time // when the first step ended
}

// NewProgress returns a bar of n steps on w or, if w is an Output or a Screen, on the writer below it.
func NewProgress(w io.Writer, n int) *Progress {
	f, ok := below(w).(*os.File)
	if !ok || n == 0 {
		return &Progress{}
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	// "loss 2.345, 1h23m45s left  99% |", the bar, "| (1999/2000)" and room for ^C
	width := min(30, columns-40-2*len(strconv.Itoa(n)))
	if err != nil || width < 5 { // not a terminal, or a narrow one
		return &Progress{}
	}
	return &Progress{n: n, bar: progressbar.NewOptions(n,
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetWidth(width),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// Step moves the bar by one step. Failing to draw the bar is not an error.
func (p *Progress) Step(loss float64) {
	if p.bar != nil {
		p.bar.Describe(p.describe(loss, time.Now()))
		_ = p.bar.Add(1)
	}
}

// describe returns the text before the bar after one more step: the loss and, from the second step on, the time left.
func (p *Progress) describe(loss float64, now time.Time) string {
	text := fmt.Sprintf("loss %.3f", loss)
	if p.done++; p.done == 1 {
		p.began = now
		return text
	}
	left := now.Sub(p.began) / time.Duration(p.done-1) * time.Duration(p.n-p.done)
	return fmt.Sprintf("%s, %v left", text, left.Round(time.Second))
}

// Clear removes the bar from the line until the next step.
func (p *Progress) Clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
