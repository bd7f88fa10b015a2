package text

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"attention/train/text/jinja"
)

// table describes a file's rows: the names of its columns, with or without a heading.
type table struct {
	tabs    bool
	columns []string
	headed  bool
}

// scanTable adds the rows of a table.
func (e *Examples) scanTable(tabs bool) error {
	t := &table{tabs: tabs, columns: []string{"label", "text"}}
	e.read = t.read
	if tabs {
		return e.scanLines(func(line []byte) (bool, error) { return t.heading(strings.Split(string(line), "\t")) })
	}
	return e.scanCSV(t.heading)
}

// headingWords are column names that are not keys of a form, but show that the first row is a heading.
var headingWords = strings.Fields("question answer query response sentence content category class target labels " +
	"chosen rejected")

// headingCell matches a name in a heading.
var headingCell = regexp.MustCompile(`^[\pL_][\pL\pN_-]{0,39}$`)

// heading reports whether the first row names columns, and stores the names. It is a heading if all cells look like
// names and at least one is a key of a form, or a word that other headings use. Columns that fit no form are an error.
func (t *table) heading(row []string) (bool, error) {
	named, known := make([]string, len(row)), false
	for i, cell := range row {
		named[i] = strings.ToLower(strings.TrimSpace(cell))
		if cell != "" && !headingCell.MatchString(named[i]) {
			return false, nil
		}
		known = known || slices.Contains(headingWords, named[i]) ||
			slices.ContainsFunc(exampleForms, func(f exampleForm) bool {
				return slices.Contains(f.needs, named[i]) || slices.Contains(f.reads, named[i])
			})
	}
	if !known {
		return false, nil
	}
	t.columns, t.headed = named, true
	d := t.dict(named)
	if len(d.Keys()) < len(named) {
		return true, fmt.Errorf("line 1: got the columns %s, want each once", names(named))
	}
	if _, err := formOfRow(d); err != nil {
		return true, fmt.Errorf("line 1: %w", err)
	}
	return true, nil
}

// dict returns the cells of a row by column name.
func (t *table) dict(row []string) *jinja.Dict {
	d := &jinja.Dict{}
	for i, name := range t.columns {
		d.Set(name, row[i])
	}
	return d
}

// read returns the example of a row.
func (t *table) read(raw []byte) (e Example, unread []string, err error) {
	row, err := t.cells(raw)
	switch {
	case err != nil:
		return e, nil, err
	case len(row) != len(t.columns) && t.headed:
		return e, nil, fmt.Errorf("got %d columns, want the %d of the heading", len(row), len(t.columns))
	case len(row) != len(t.columns):
		return e, nil, fmt.Errorf("got %d columns, want a label and a text", len(row))
	}
	d := t.dict(row)
	if label, ok := d.Get("label"); ok {
		d.Set("label", strings.TrimSpace(label.(string)))
	}
	e, unread, err = readRow(d)
	if err == nil && e.Messages == nil && e.Score == nil && e.Label == "" && slices.Contains(t.columns, "label") {
		err = errors.New("label: got nothing, want a class")
	}
	return e, unread, err
}

// cells returns the columns of a row.
func (t *table) cells(raw []byte) ([]string, error) {
	if t.tabs {
		return strings.SplitN(string(raw), "\t", len(t.columns)), nil
	}
	r := csv.NewReader(bytes.NewReader(raw))
	r.FieldsPerRecord = -1
	return r.Read()
}

// scanCSV adds the rows of a CSV file, whose texts may contain newlines.
func (e *Examples) scanCSV(heading func(row []string) (bool, error)) error {
	const ahead = 1 << 16
	limited := &io.LimitedReader{R: e.file}
	r := csv.NewReader(bufio.NewReaderSize(limited, ahead))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	for first := true; ; first = false {
		from := r.InputOffset()
		limited.N = maxExample + 2*ahead // an unclosed quote would read the rest of the file into memory
		row, err := r.Read()
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok && limited.N <= 0 {
			return fmt.Errorf("line %d: %w: does a quote open there that nothing closes?", wrong.StartLine,
				tooLong(maxExample+1))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if first {
			named, err := heading(row)
			if err != nil {
				return err
			}
			if named {
				continue
			}
		}
		line, _ := r.FieldPos(0)
		raw := make([]byte, r.InputOffset()-from)
		if _, err := e.file.ReadAt(raw, e.begin+from); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if err := e.add(raw, e.begin+from, line); err != nil {
			return err
		}
	}
}
