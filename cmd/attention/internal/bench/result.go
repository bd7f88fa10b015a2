package bench

import (
	"encoding/json"
	"fmt"
	"io"
)

// result holds the measurements of a work.
type result struct {
	Name string `json:"name"`
	work
	Threads           int     `json:"threads"`
	Runs              int     `json:"runs"`
	Seconds           float64 `json:"seconds"` // median of the runs
	SecondsMin        float64 `json:"seconds_min"`
	PeakRSS           int     `json:"peak_rss_bytes"` // of the process; 0 if unknown
	Flop              int     `json:"flop"`
	FlopPerSecond     float64 `json:"flop_per_second"` // at the median
	PeakFlopPerSecond float64 `json:"peak_flop_per_second"`
}

// printer prints each result as a row of a table or a line of JSON.
type printer struct {
	out  io.Writer
	json bool
	rows int
}

func (p *printer) print(r *result) error {
	if p.json {
		return json.NewEncoder(p.out).Encode(r)
	}
	const (
		columns = "%-38s %7s %9s %9s %8s %8s %8s %9s\n"
		giga    = 1e9
	)
	if p.rows == 0 {
		_, err := fmt.Fprintf(p.out, columns,
			"WORK", "THREADS", "SECONDS", "LEAST", "GFLOP", "GFLOP/S", "OF PEAK", "PEAK MIB")
		if err != nil {
			return err
		}
	}
	p.rows++
	memory := "unknown"
	if r.PeakRSS > 0 {
		memory = fmt.Sprintf("%.1f", float64(r.PeakRSS)/(1<<20))
	}
	_, err := fmt.Fprintf(p.out, columns, r.Name, fmt.Sprint(r.Threads),
		fmt.Sprintf("%.4g", r.Seconds), fmt.Sprintf("%.4g", r.SecondsMin),
		fmt.Sprintf("%.3g", float64(r.Flop)/giga), fmt.Sprintf("%.3g", r.FlopPerSecond/giga),
		fmt.Sprintf("%.0f%%", 100*r.FlopPerSecond/r.PeakFlopPerSecond), memory)
	return err
}
