package why

import (
	"encoding/json"
	"io"

	"attention/cmd/attention/internal/program"
	"attention/internal/folder"
)

// report is report.json: every number of a run.
type report struct {
	Command string         `json:"command"`
	Version string         `json:"version"`
	Seeds   []int64        `json:"seeds"`
	Reverse *reverseReport `json:"reverse,omitempty"`
	Picture *pictureReport `json:"picture,omitempty"`
}

func newReport(command string, seeds []int64) *report {
	return &report{Command: command, Version: program.Version(), Seeds: seeds}
}

// write writes report.json.
func (r *report) write(dir *folder.Dir) error {
	return dir.Write("report.json", func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	})
}

// spread returns the mean, the least and the largest of some numbers.
func spread(x []float64) (mean, least, most float64) {
	least, most = x[0], x[0]
	for _, v := range x {
		mean += v / float64(len(x))
		least, most = min(least, v), max(most, v)
	}
	return mean, least, most
}
