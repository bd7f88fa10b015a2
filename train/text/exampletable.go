package text

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// scanTable adds the rows of a table of labels and texts.
func (e *Examples) scanTable(tabs bool) error {
	textFirst := false
	heading := func(row []string) bool {
		if len(row) != 2 {
			return false
		}
		a, b := strings.ToLower(strings.TrimSpace(row[0])), strings.ToLower(strings.TrimSpace(row[1]))
		textFirst = a == "text" && b == "label"
		return textFirst || a == "label" && b == "text"
	}
	e.read = func(raw []byte) (Example, error) {
		row, err := cells(raw, tabs)
		if err != nil {
			return Example{}, err
		}
		if len(row) != 2 {
			return Example{}, fmt.Errorf("got %d columns, want a label and a text", len(row))
		}
		example := Example{Label: strings.TrimSpace(row[0]), Text: row[1]}
		if textFirst {
			example.Label, example.Text = strings.TrimSpace(row[1]), row[0]
		}
		if example.Label == "" {
			return example, errors.New("label: got nothing, want a class")
		}
		return example, example.validate()
	}
	if tabs {
		return e.scanLines(func(line []byte) bool {
			row, _ := cells(line, true)
			return heading(row)
		})
	}
	return e.scanCSV(heading)
}

// cells returns the columns of a row.
func cells(raw []byte, tabs bool) ([]string, error) {
	if tabs {
		return strings.SplitN(string(raw), "\t", 2), nil
	}
	r := csv.NewReader(bytes.NewReader(raw))
	r.FieldsPerRecord = -1
	return r.Read()
}

// scanCSV adds the rows of a CSV file, whose texts may have lines.
func (e *Examples) scanCSV(heading func(row []string) bool) error {
	r := csv.NewReader(bufio.NewReaderSize(e.file, 1<<16))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	for first := true; ; first = false {
		from := r.InputOffset()
		row, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if first && heading(row) {
			continue
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
