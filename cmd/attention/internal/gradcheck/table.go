package gradcheck

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"attention/cmd/attention/internal/term"
	"attention/graph/gradcheck"

	"gorgonia.org/tensor"
)

// table collects the results of checks.
type table struct {
	text     strings.Builder
	rows     *tabwriter.Writer
	compared string // name of the third column
	group    string // heading of the last row
	checks   int
	total    int      // of the third column
	failed   []string // names
	details  []string // the failures in full
}

func newTable(m gradcheck.Mode) *table {
	t := &table{compared: "elements"}
	if m == gradcheck.OneDirection {
		t.compared = "directions"
	}
	t.rows = tabwriter.NewWriter(&t.text, 0, 0, 2, ' ', 0)
	return t
}

// add adds a row with a check's report or error.
func (t *table) add(c check, dt tensor.Dtype, r *gradcheck.Report, err error) {
	if c.group != t.group {
		if t.group != "" {
			fmt.Fprintln(t.rows, "\t\t\t\t") // an empty row that keeps the columns aligned
		}
		t.group = c.group
		fmt.Fprintf(t.rows, "%s\tTYPE\t%s\tWORST ERROR\tVERDICT\n", strings.ToUpper(c.group), strings.ToUpper(t.compared))
	}
	t.checks++
	elements, worst, verdict, problem := "-", "-", "ok", ""
	switch {
	case err != nil:
		verdict, problem = "FAIL", term.OneLine(err)
	case !r.OK():
		verdict, problem = "FAIL", strings.ReplaceAll(r.String(), "\n", "\n  ")
		fallthrough
	default:
		_, c := r.Worst()
		elements, worst = fmt.Sprint(r.Compared()), fmt.Sprintf("%.1e", c.RelError)
		t.total += r.Compared()
	}
	fmt.Fprintf(t.rows, "%s\t%v\t%s\t%s\t%s\n", c.name, dt, elements, worst, verdict)
	if problem != "" {
		name := fmt.Sprintf("%s (%v)", c.name, dt)
		t.failed = append(t.failed, name)
		t.details = append(t.details, name+"\n  "+problem)
	}
}

// print writes the table, the failures and the totals.
func (t *table) print(w io.Writer) error {
	if err := t.rows.Flush(); err != nil {
		return fmt.Errorf("gradcheck: %w", err)
	}
	var out strings.Builder
	for line := range strings.Lines(t.text.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	for _, d := range t.details {
		out.WriteString("\n" + d + "\n")
	}
	fmt.Fprintf(&out, "\n%d of %d right, %d %s compared\n", t.checks-len(t.failed), t.checks, t.total, t.compared)
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("gradcheck: %w", err)
	}
	return nil
}
