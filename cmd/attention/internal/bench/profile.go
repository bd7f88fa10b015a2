package bench

import (
	"fmt"
	"io"

	"attention/cmd/attention/internal/term"
	"attention/graph/machine"
)

// opTime is the mean time of one kind of ops in a run.
type opTime struct {
	Name    string  `json:"name"`
	Calls   float64 `json:"calls"`
	Seconds float64 `json:"seconds"`
	Idle    float64 `json:"idle"` // share of the cores' time in which they did not compute
}

// profiled wraps run to record all calls but the first. end stops the recording and returns the mean times of a call.
func profiled(threads int, run func() error) (recorded func() error, end func() []opTime) {
	calls, stop := 0, func() []machine.OpTime { return nil }
	recorded = func() error {
		if calls++; calls == 2 {
			stop = machine.StartProfile()
		}
		return run()
	}
	return recorded, func() (all []opTime) {
		for _, t := range stop() {
			all = append(all, opTime{Name: t.Name, Calls: float64(t.Calls) / float64(calls-1),
				Seconds: t.Time.Seconds() / float64(calls-1),
				Idle:    t.Idle.Seconds() / t.Time.Seconds() / float64(threads)})
		}
		return all
	}
}

// mostOps is the number of kinds of ops in a table; the others share one row.
const mostOps = 20

// printOps prints the time of a run by kinds of ops, as shares of the whole time.
func printOps(out io.Writer, all []opTime, seconds float64) {
	table := term.Table{Form: "%-34s%8.4g%11.3f%9s%9s", Names: []any{"  OP", "CALLS", "MS", "SHARE", "IDLE"}}
	rows, rest := all[:min(len(all), mostOps)], opTime{Name: "others"}
	for _, t := range all[len(rows):] {
		rest.Calls, rest.Idle = rest.Calls+t.Calls, rest.Idle+t.Idle*t.Seconds
		rest.Seconds += t.Seconds
	}
	if rest.Seconds > 0 {
		rest.Idle /= rest.Seconds
		rows = append(rows[:len(rows):len(rows)], rest)
	}
	for _, t := range rows {
		table.Row(out, "  "+t.Name, t.Calls, 1e3*t.Seconds, fmt.Sprintf("%.1f%%", 100*t.Seconds/seconds),
			fmt.Sprintf("%.0f%%", 100*t.Idle))
	}
}
