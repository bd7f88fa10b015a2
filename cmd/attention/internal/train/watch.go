package train

import (
	"fmt"
)

// watch makes the run record how its weights move, and the attention weights of a text: validation text from a word's
// start, whatever the prompt is.
func (r *training) watch() error {
	n := r.model.ProbeTokens()
	begin, err := r.wordStart(0, n)
	if err != nil {
		return err
	}
	c, err := r.model.Watch(r.corpus.Tokenizer, r.corpus.Validation[begin:][:n])
	if err != nil {
		return err
	}
	return r.folder.WatchTo(r.loop, c)
}

// drawWatched draws what the run has recorded.
func (r *training) drawWatched() error {
	title := fmt.Sprintf("%s, run %s", r.model.Title(), r.folder.Name())
	return r.folder.DrawWatched(r.model.Params(), "*", title)
}
