package gradcheck

import (
	"fmt"
	"io"
	"math"
	"strings"

	"attention/cmd/attention/internal/term"
	"attention/graph/gradcheck"

	"gorgonia.org/tensor"
)

// table collects the results of checks.
type table struct {
	types    []tensor.Dtype
	every    bool   // whether each case has a row
	compared string // what rows count: elements or directions
	rows     []*row
	checks   int
	total    int      // elements or directions compared
	failed   []string // names of failed checks
	details  []string // the failures in full
}

// row is the result of a case, or of all cases of an op or a layer.
type row struct {
	group, name string
	cases       map[string]bool
	compared    int
	worst       map[tensor.Dtype]float64 // NaN if a check returned an error
	failed      bool
}

func newTable(m gradcheck.Mode, types []tensor.Dtype, every bool) *table {
	t := &table{types: types, every: every, compared: "elements"}
	if m == gradcheck.OneDirection {
		t.compared = "directions"
	}
	return t
}

// add adds a check's report or error.
func (t *table) add(c check, dt tensor.Dtype, r *gradcheck.Report, err error) {
	t.checks++
	to, worst, problem := t.row(c), math.NaN(), ""
	to.cases[c.name] = true
	switch {
	case err != nil:
		problem = term.OneLine(err)
	case !r.OK():
		problem = strings.ReplaceAll(r.String(), "\n", "\n  ")
		fallthrough
	default:
		_, w := r.Worst()
		worst = w.RelError
		to.compared += r.Compared()
		t.total += r.Compared()
	}
	if was, ok := to.worst[dt]; ok {
		worst = max(was, worst) // NaN if one is
	}
	to.worst[dt] = worst
	if problem != "" {
		to.failed = true
		name := fmt.Sprintf("%s (%v)", c.name, dt)
		t.failed = append(t.failed, name)
		t.details = append(t.details, name+"\n  "+problem)
	}
}

// row returns the row of a check, a new one for a new case, op or layer.
func (t *table) row(c check) *row {
	name := c.name
	if !t.every {
		name, _, _ = strings.Cut(name, ",")
	}
	for _, r := range t.rows {
		if r.group == c.group && r.name == name {
			return r
		}
	}
	r := &row{group: c.group, name: name, cases: map[string]bool{}, worst: map[tensor.Dtype]float64{}}
	t.rows = append(t.rows, r)
	return r
}

// print writes the table, the failures and the totals.
func (t *table) print(w io.Writer) error {
	var out strings.Builder
	var table term.Table
	for i, r := range t.rows {
		if i == 0 || r.group != t.rows[i-1].group {
			if i > 0 {
				out.WriteString("\n")
			}
			table = t.columns(r.group)
		}
		verdict, cells := "ok", []any{r.name}
		if r.failed {
			verdict = "FAIL"
		}
		if !t.every {
			cells = append(cells, len(r.cases))
		}
		cells = append(cells, r.compared)
		for _, dt := range t.types {
			cells = append(cells, r.worstString(dt))
		}
		table.Row(&out, append(cells, verdict)...)
	}
	for _, d := range t.details {
		out.WriteString("\n" + d + "\n")
	}
	fmt.Fprintf(&out, "\n%d of %d right, %d %s compared\n", t.checks-len(t.failed), t.checks, t.total, t.compared)
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// columns returns the table of a group. If each case has its own row, there is no column with the number of cases, and
// the names are wider.
func (t *table) columns(group string) term.Table {
	c := term.Table{Form: "%-39s", Names: []any{strings.ToUpper(group)}}
	if !t.every {
		c.Form = "%-30s"
		c.Add("  %5d", "CASES")
	}
	c.Add("  %10d", strings.ToUpper(t.compared))
	for _, dt := range t.types {
		c.Add("  %8s", strings.ToUpper(dt.String()))
	}
	c.Add("  %s", "VERDICT")
	return c
}

func (r *row) worstString(dt tensor.Dtype) string {
	if math.IsNaN(r.worst[dt]) {
		return "-"
	}
	return fmt.Sprintf("%.1e", r.worst[dt])
}
