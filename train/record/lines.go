package record

import (
	"encoding/json"
	"fmt"

	"attention/internal/config"
	"attention/internal/lines"
)

// parser returns a parse function for the lines from a position on, which follow the record last.
func parser(at *lines.Place, last *Record) func(text []byte) (Record, error) {
	return func(text []byte) (line Record, err error) {
		if at.Size+int64(len(text)) > mostLines {
			return line, fmt.Errorf("got more than %d bytes of lines, want a shorter file", mostLines)
		}
		if err := json.Unmarshal(text, &line); err != nil { // it reads null, which package config does not
			return line, err
		}
		for i, p := range last.Params[:min(len(last.Params), len(line.Params))] {
			if line.Params[i].Name == p.Name {
				line.Params[i].Name = p.Name // one string shared by all records
			}
		}
		err = config.JSON(line.check(last.Step))
		*last = line
		return line, err
	}
}
