package text

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"attention/train/text/jinja"
)

// readTagged reads the words of a sentence and their tags.
func readTagged(row *jinja.Dict) (e Example, err error) {
	if e.Words, err = wordsAt(row, "tokens"); err == nil {
		e.Tags, err = wordsAt(row, "ner_tags")
	}
	if err == nil && len(e.Words) != len(e.Tags) {
		err = fmt.Errorf("ner_tags: got %d, want one for each of the %d tokens", len(e.Tags), len(e.Words))
	}
	return e, err
}

// wordsAt returns the texts in the list under a key, which may not be empty.
func wordsAt(row *jinja.Dict, key string) ([]string, error) {
	list, err := listAt(row, key)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: got none, want at least one", key)
	}
	words := make([]string, len(list))
	for i, word := range list {
		if !isText(word, &words[i]) || strings.TrimSpace(words[i]) == "" {
			return nil, fmt.Errorf("%s: got %s in element %d, want a text", key, shown(word), i+1)
		}
	}
	return words, err
}

// exampleFromRows returns the example of a sentence in CoNLL's form.
func exampleFromRows(rows []byte) (e Example, unread []string, err error) {
	for row := range strings.Lines(string(rows)) {
		row = strings.TrimSpace(row)
		columns := strings.Split(row, "\t")
		if len(columns) == 1 {
			columns = strings.Fields(row)
		}
		if err := Check([]byte(row)); err != nil {
			return e, nil, err
		}
		if len(columns) < 2 {
			return e, nil, fmt.Errorf("got %.60q, want a word and its tag", row)
		}
		e.Words, e.Tags = append(e.Words, columns[0]), append(e.Tags, columns[len(columns)-1])
	}
	return e, nil, nil
}

// scanSentences adds the sentences of a file in CoNLL's form.
func (e *Examples) scanSentences() error {
	lines, offset := bufio.NewReaderSize(e.file, 1<<16), e.begin
	var sentence []byte
	begin, first := offset, 1 // of the sentence
	for line := 1; ; line++ {
		raw, err := readLine(lines)
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", line, err)
		}
		row := bytes.TrimSpace(raw)
		isWord := len(row) > 0 && !bytes.HasPrefix(row, []byte("-DOCSTART-"))
		if isWord {
			if len(sentence) == 0 {
				begin, first = offset, line
			}
			sentence = append(sentence, raw...)
			_, _, wrong := exampleFromRows(row)
			if wrong == nil {
				wrong = tooLong(len(sentence))
			}
			if wrong != nil {
				return fmt.Errorf("line %d: %w", line, wrong)
			}
		}
		if len(sentence) > 0 && (!isWord || err == io.EOF) {
			if wrong := e.add(sentence, begin, first); wrong != nil {
				return wrong
			}
			sentence = nil
		}
		if err == io.EOF {
			return nil
		}
		offset += int64(len(raw))
	}
}
