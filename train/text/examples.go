package text

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/folder"
)

// Examples are the examples of a file. They stay on the disk, so they may be larger than the memory.
type Examples struct {
	path  string
	file  *os.File
	begin int64  // offset of the first byte after a byte order mark
	unit  string // the unit of positions in errors: line or element
	read  func(raw []byte) (e Example, unread []string, err error)
	at    []place

	talks  bool           // whether a template makes the text of some examples
	thinks bool           // whether answers of some examples have thoughts
	unread map[string]int // for each ignored key, the number of examples that have it
}

// place is the position of an example in its file.
type place struct {
	offset int64
	length int32
	line   int32 // line, from 1; in a JSON array the number of the element
}

// maxExample is the largest number of bytes of an example.
const maxExample = 16 << 20

// OpenExamples opens a file of examples and checks each. The end of its name determines its form:
//
//	.jsonl          an Example as JSON in each line; .ndjson, too
//	.json           an array of them
//	.txt            a text in each line
//	.conll          a word and its tag in each line, the first and the last of columns with tabs or blanks between
//	                them; an empty line, or one that begins with -DOCSTART-, ends a sentence
//	.csv, .tsv      rows whose columns are named by a heading, in any case, as an Example's keys: "text,label" or
//	                "prompt,completion"; without a heading two columns, label and text. Quotes are a part of the text
//	                in .tsv
//
// A byte order mark at the beginning is ignored. The error names the first wrong line, or element of an array. Empty
// lines count but are no examples; a file without examples is an error.
func OpenExamples(path string) (*Examples, error) {
	file, err := folder.Open(path)
	if err != nil {
		return nil, fmt.Errorf("text: examples: %w", err)
	}
	e := &Examples{path: path, file: file, unit: "line", unread: map[string]int{}}
	if err := e.scan(); err != nil {
		_ = file.Close() // nothing was written
		return nil, fmt.Errorf("text: examples: %s: %w", path, err)
	}
	return e, nil
}

// scan finds the examples of a new file and checks each.
func (e *Examples) scan() (err error) {
	if e.begin, err = afterMark(e.file); err != nil {
		return err
	}
	switch end := strings.ToLower(filepath.Ext(e.path)); end {
	case ".jsonl", ".ndjson":
		e.read = exampleFromJSON
		err = e.scanLines(nil)
	case ".json":
		e.read, e.unit = exampleFromJSON, "element"
		err = e.scanArray()
	case ".txt":
		e.read = exampleFromLine
		err = e.scanLines(nil)
	case ".conll":
		e.read = exampleFromRows
		err = e.scanSentences()
	case ".csv", ".tsv":
		err = e.scanTable(end == ".tsv")
	default:
		err = fmt.Errorf("got a name that ends with %.20q, want .jsonl, .json, .txt, .conll, .csv or .tsv", end)
	}
	if err == nil && len(e.at) == 0 {
		err = errors.New("got no example, want at least one")
	}
	return err
}

// afterMark moves to a file's first byte after a byte order mark, which Excel writes, and returns its offset.
func afterMark(file *os.File) (begin int64, err error) {
	mark := make([]byte, 3)
	if n, _ := file.ReadAt(mark, 0); string(mark[:n]) == "\ufeff" {
		begin = 3
	}
	return file.Seek(begin, io.SeekStart)
}

// ExampleFiles returns the files of a folder to train on, to validate with and to test with: train, valid and test with
// an end that OpenExamples knows; "" for a missing file. The file to validate with may also be named validation or val.
// Two files of a kind are an error.
func ExampleFiles(dir string) (train, valid, test string, err error) {
	names, err := folder.Names(dir)
	if err != nil {
		return "", "", "", fmt.Errorf("text: examples: %w", err)
	}
	found := map[string]string{}
	for _, name := range names {
		end := filepath.Ext(name)
		part := strings.TrimSuffix(name, end)
		if part == "validation" || part == "val" {
			part = "valid"
		}
		if !slices.Contains(exampleEnds, strings.ToLower(end)) || !slices.Contains([]string{"train", "valid", "test"}, part) {
			continue
		}
		if other, ok := found[part]; ok {
			const wrong = "text: examples: %s: got both %s and %s, want one of them"
			return "", "", "", fmt.Errorf(wrong, dir, filepath.Base(other), name)
		}
		found[part] = filepath.Join(dir, name)
	}
	if found["train"] == "" {
		const wrong = "text: examples: %s: got no train.jsonl, train.json, train.conll, train.csv or train.tsv, want one"
		return "", "", "", fmt.Errorf(wrong, dir)
	}
	return found["train"], found["valid"], found["test"], nil
}

// exampleEnds are the file name extensions of examples.
var exampleEnds = []string{".jsonl", ".ndjson", ".json", ".conll", ".csv", ".tsv"}

// Len returns the number of examples.
func (e *Examples) Len() int { return len(e.at) }

// At reads example i, counted from 0.
func (e *Examples) At(i int) (Example, error) {
	if i < 0 || i >= len(e.at) {
		return Example{}, e.about(i, fmt.Errorf("got example %d, want 0 to %d", i, len(e.at)-1))
	}
	raw := make([]byte, e.at[i].length)
	if _, err := e.file.ReadAt(raw, e.at[i].offset); err == io.EOF { // io.EOF would mean the end of an epoch
		return Example{}, e.about(i, errors.New("got the end of the file, want an example: was the file changed?"))
	} else if err != nil {
		return Example{}, e.about(i, err)
	}
	example, _, err := e.read(raw)
	if err != nil {
		return example, e.about(i, fmt.Errorf("%w: was the file changed?", err))
	}
	return example, nil
}

// Where returns the position of example i in the form in which errors about it begin: text: examples: train.jsonl: line
// 7
func (e *Examples) Where(i int) string {
	if i < 0 || i >= len(e.at) {
		return "text: examples: " + e.path
	}
	return fmt.Sprintf("text: examples: %s: %s %d", e.path, e.unit, e.at[i].line)
}

func (e *Examples) about(i int, err error) error { return fmt.Errorf("%s: %w", e.Where(i), err) }

// NeedTemplate reports whether a template makes the text of some examples, conversations except pairs of a prompt and
// its completion.
func (e *Examples) NeedTemplate() bool { return e.talks }

// Think reports whether answers of some examples have thoughts.
func (e *Examples) Think() bool { return e.thinks }

// Unread returns the number of examples with each ignored key, for the first 1000 such keys.
func (e *Examples) Unread() map[string]int { return e.unread }

// mostUnread is the largest number of keys that are counted.
const mostUnread = 1000

// Close closes the file.
func (e *Examples) Close() error { return e.file.Close() }

// add checks the example in raw bytes and stores its position.
func (e *Examples) add(raw []byte, offset int64, line int) error {
	var of Example
	var unread []string
	err := tooLong(len(raw))
	if err == nil {
		of, unread, err = e.read(raw)
	}
	if err != nil {
		return fmt.Errorf("%s %d: %w", e.unit, line, err)
	}
	e.talks, e.thinks = e.talks || of.Messages != nil && !of.Pair, e.thinks || of.Thinks()
	for _, key := range unread {
		if e.unread[key] > 0 || len(e.unread) < mostUnread {
			e.unread[key]++
		}
	}
	e.at = append(e.at, place{offset, int32(len(raw)), int32(line)})
	return nil
}

// scanLines adds each line that is not empty. first gets the first line and reports whether it is a heading; nil is for
// files without a heading.
func (e *Examples) scanLines(first func(line []byte) (heading bool, err error)) error {
	lines := bufio.NewReaderSize(e.file, 1<<16)
	offset := e.begin
	for line := 1; ; line++ {
		raw, err := readLine(lines)
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", line, err)
		}
		text := bytes.TrimRight(raw, "\r\n")
		heading, wrong := false, error(nil)
		if line == 1 && first != nil {
			heading, wrong = first(text)
		}
		if wrong == nil && !heading && len(bytes.TrimSpace(text)) > 0 {
			wrong = e.add(text, offset, line)
		}
		if wrong != nil || err == io.EOF {
			return wrong
		}
		offset += int64(len(raw))
	}
}

// tooLong returns an error for an example of n bytes, which is longer than an example may be.
func tooLong(n int) error {
	if n > maxExample {
		return fmt.Errorf("got more than %d bytes, want fewer", maxExample)
	}
	return nil
}

// readLine reads a line with its newline, of at most maxExample bytes.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err := tooLong(len(line)); err != nil {
			return nil, err
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
		if err := e.add(raw, e.begin+d.InputOffset()-int64(len(raw)), n); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return errors.New("got an array without an end, want a whole one: was the file cut off?")
	}
	return nil
}
