package bench

import (
	"encoding/json"
	"fmt"
	"io"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
)

// result holds the measurements of a work.
type result struct {
	Name string `json:"name"`
	work
	Threads       int     `json:"threads"`
	Runs          int     `json:"runs"`
	Seconds       float64 `json:"seconds"` // median of the runs
	SecondsMin    float64 `json:"seconds_min"`
	PeakRSS       int     `json:"peak_rss_bytes"` // of the process; 0 if unknown
	Flop          int     `json:"flop"`
	FlopPerSecond float64 `json:"flop_per_second"` // at the median
	program.Kernels
	Ops []opTime `json:"ops,omitempty"` // of a run, with --profile
}

// printer prints each result as a row of a table or a line of JSON.
type printer struct {
	out   io.Writer
	json  bool
	table term.Table
}

func (p *printer) print(r *result) error {
	if p.json {
		return json.NewEncoder(p.out).Encode(r)
	}
	if p.table.Form == "" {
		p.table = term.Table{Form: "%-34s%9.3g%9.3g%9s%8s%5s%6s",
			Title: term.Fill("kernels ", r.Phrases(r.numbers())...) + "\n",
			Names: []any{fmt.Sprintf("WORK (threads: %d)", r.Threads), "SECONDS", "LEAST", "GFLOP", "GFLOP/S", "PEAK", "MIB"}}
	}
	memory, share := "-", "-"
	if r.Peak > 0 {
		share = fmt.Sprintf("%.0f%%", 100*r.FlopPerSecond/r.Peak)
	}
	if r.PeakRSS > 0 {
		memory = fmt.Sprintf("%.0f", float64(r.PeakRSS)/(1<<20))
	}
	out := term.NewOutput(p.out)
	p.table.Row(out, r.Name, r.Seconds, r.SecondsMin, program.Giga(float64(r.Flop)), program.Giga(r.FlopPerSecond), share,
		memory)
	if r.Ops != nil {
		printOps(out, r.Ops, r.Seconds)
	}
	return out.Err()
}
