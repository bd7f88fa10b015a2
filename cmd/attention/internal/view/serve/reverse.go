package serve

import (
	"errors"
	"fmt"
	"net/http"

	"attention/internal/safetensors"
	"attention/train/tasks/reversal"
)

// Rival is one of several models that write strings backwards.
type Rival struct {
	Name       string    `json:"name"`
	Parameters int       `json:"parameters"`
	Exact      []float64 `json:"exact"` // the share of new strings of each length that it writes without an error

	*reversal.Writer `json:"-"`
}

// reversing describes the models that write strings backwards, and the strings.
type reversing struct {
	Letters  string  `json:"letters"`
	Shortest int     `json:"shortest"` // of the strings in the training
	Longest  int     `json:"longest"`
	Rivals   []Rival `json:"rivals"`
}

// reversedAnswer describes what the models write for a string.
type reversedAnswer struct {
	Written []string `json:"written"`
}

// reverse returns the output of each model for a string, and the letters that the model attends to for each output
// letter.
func (s *Server) reverse(r *http.Request) (any, error) {
	if s.config.Rivals == nil {
		return nil, errors.New("reverse: got a request for it, want attention why --view")
	}
	text := r.URL.Query().Get("text")
	answer := new(reversedAnswer)
	p := &pack{About: answer}
	for i, rival := range s.config.Rivals {
		w, err := rival.Write(r.Context(), text)
		if err != nil {
			return nil, err
		}
		answer.Written = append(answer.Written, w.Text)
		float32s := func(name string, of []float64) { add(p, name, safetensors.Convert[float32](of)) }
		float32s(fmt.Sprint("sure", i), w.Sure)
		float32s(fmt.Sprint("state", i), w.State)
		for head, weights := range w.Heads {
			float32s(fmt.Sprintf("head%d.%d", i, head), weights)
		}
	}
	return p, nil
}
