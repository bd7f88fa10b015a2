package text

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"attention/internal/folder"
)

// Examples are the examples of a file, which stays on the disk: they may be larger than memory.
type Examples struct {
	path string
	file *os.File
	read func(raw []byte) (Example, error)
	at   []place
}

// place is where an example lies in its file.
type place struct {
	offset int64
	length int32
	line   int32 // from 1; in a JSON array the number of the element
}

// maxExample is the most bytes of an example.
const maxExample = 16 << 20

// OpenExamples opens a file of examples and checks each. By the end of its name it is
//
//	.jsonl          an Example as JSON in each line
//	.json           an array of them
//	.csv, .tsv      two columns, label and text, perhaps under the heading "label,text" in any case; or, if the heading
//	                has them in the other order, text and label. Quotes are a part of the text in .tsv
//
// The error names the first wrong line. Empty lines count but are no examples; a file without examples is an error.
func OpenExamples(path string) (e *Examples, err error) {
	file, err := folder.Open(path)
	if err != nil {
		return nil, fmt.Errorf("text: examples: %w", err)
	}
	e = &Examples{path: path, file: file}
	switch end := strings.ToLower(filepath.Ext(path)); end {
	case ".jsonl", ".ndjson":
		e.read = exampleFromJSON
		err = e.scanLines(nil)
	case ".json":
		e.read = exampleFromJSON
		err = e.scanArray()
	case ".csv", ".tsv":
		err = e.scanTable(end == ".tsv")
	default:
		err = fmt.Errorf("got a name that ends with %.20q, want .jsonl, .json, .csv or .tsv", end)
	}
	if err == nil && len(e.at) == 0 {
		err = errors.New("got no example, want at least one")
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, fmt.Errorf("text: examples: %s: %w", path, err)
	}
	return e, nil
}

// ExampleFiles returns the files of a folder to train on, to validate with and to test with: train, valid and test with
// an end that OpenExamples knows; "" for one that is not there. Validation may be called validation or val, too.
func ExampleFiles(dir string) (train, valid, test string, err error) {
	names, err := folder.Names(dir)
	if err != nil {
		return "", "", "", fmt.Errorf("text: examples: %w", err)
	}
	for _, name := range names {
		end := filepath.Ext(name)
		if !strings.Contains(".jsonl .json .csv .tsv", end) || end == "" {
			continue
		}
		switch path := filepath.Join(dir, name); strings.TrimSuffix(name, end) {
		case "train":
			train = path
		case "valid", "validation", "val":
			valid = path
		case "test":
			test = path
		}
	}
	if train == "" {
		const wrong = "text: examples: %s: got no train.jsonl, train.json, train.csv or train.tsv, want one"
		return "", "", "", fmt.Errorf(wrong, dir)
	}
	return train, valid, test, nil
}

func exampleFromJSON(raw []byte) (e Example, err error) {
	err = json.Unmarshal(raw, &e)
	return e, err
}

// Len returns the number of examples.
func (e *Examples) Len() int { return len(e.at) }

// At reads example i, counted from 0.
func (e *Examples) At(i int) (Example, error) {
	if i < 0 || i >= len(e.at) {
		return Example{}, e.noExample(i)
	}
	raw := make([]byte, e.at[i].length)
	if _, err := e.file.ReadAt(raw, e.at[i].offset); err != nil {
		return Example{}, e.about(i, err)
	}
	example, err := e.read(raw)
	if err != nil {
		return example, e.about(i, fmt.Errorf("%w: was the file changed?", err))
	}
	return example, nil
}

// Where returns where example i stands, as in "train.jsonl: line 7", for errors about it.
func (e *Examples) Where(i int) string {
	if i < 0 || i >= len(e.at) {
		return e.path
	}
	return fmt.Sprintf("%s: line %d", e.path, e.at[i].line)
}

func (e *Examples) about(i int, err error) error {
	return fmt.Errorf("text: examples: %s: %w", e.Where(i), err)
}

func (e *Examples) noExample(i int) error {
	return fmt.Errorf("text: examples: %s: got example %d, want 0 to %d", e.path, i, len(e.at)-1)
}

// Close closes the file.
func (e *Examples) Close() error { return e.file.Close() }

// add checks the example in raw bytes and keeps its place.
func (e *Examples) add(raw []byte, offset int64, line int) error {
	if _, err := e.read(raw); err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	e.at = append(e.at, place{offset, int32(len(raw)), int32(line)})
	return nil
}

// scanLines adds each line that is not empty. first sees the first one, and reports whether it is a heading; nil is for
// files without.
func (e *Examples) scanLines(first func(line []byte) bool) error {
	lines := bufio.NewReaderSize(e.file, 1<<16)
	offset := int64(0)
	for line := 1; ; line++ {
		raw, err := readLine(lines)
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", line, err)
		}
		text := bytes.TrimRight(raw, "\r\n")
		if len(bytes.TrimSpace(text)) > 0 && !(line == 1 && first != nil && first(text)) {
			if err := e.add(text, offset, line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		offset += int64(len(raw))
	}
}

// readLine reads a line with its end, of at most maxExample bytes.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxExample {
			return nil, fmt.Errorf("got more than %d bytes, want fewer", maxExample)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// scanArray adds the elements of a JSON array.
func (e *Examples) scanArray() error {
	d := json.NewDecoder(bufio.NewReaderSize(e.file, 1<<16))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("got no JSON array, want one of objects; for an object in each line the name ends with .jsonl")
	}
	for n := 1; d.More(); n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fmt.Errorf("element %d: %w", n, err)
		}
		if err := e.add(raw, d.InputOffset()-int64(len(raw)), n); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return errors.New("got an array without an end, want a whole one: was the file cut off?")
	}
	return nil
}

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
		if len(raw) > maxExample {
			return fmt.Errorf("line %d: got more than %d bytes, want fewer", line, maxExample)
		}
		if _, err := e.file.ReadAt(raw, from); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if err := e.add(raw, from, line); err != nil {
			return err
		}
	}
}
