package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"attention/cmd/attention/internal/view/forward"
)

// maxPasses is how many passes are kept.
const maxPasses = 6

// passes computes and keeps passes.
type passes struct {
	models []*forward.Model
	seeing chan struct{} // holds an element while a pass is being computed

	mu   sync.Mutex
	kept []passAnswer // in order of their last use
}

// passAnswer describes a pass: all that the page needs before it draws a head.
type passAnswer struct {
	ID    string `json:"id"` // which equal requests share
	Model int    `json:"model"`
	*forward.Pass
}

// passRequest asks for a pass.
type passRequest struct {
	Model int `json:"model"`
	forward.Request
}

// errBusy is the error of a request while the number of computations is at its limit.
var errBusy = errors.New("the server computes too much at once; try again")

// errGone is the error for a pass that the server no longer keeps. The page receives it as an ordinary answer, {"gone":
// true}, and sends its request again.
var errGone = errors.New("the pass is not kept any more")

func newPasses(models []*forward.Model) *passes {
	return &passes{models: models, seeing: make(chan struct{}, 1)}
}

// see returns the pass of a request.
func (l *passes) see(ctx context.Context, r passRequest) (none passAnswer, err error) {
	if r.Model < 0 || r.Model >= len(l.models) {
		return none, fmt.Errorf("model: got %d, want one of %d", r.Model, len(l.models))
	}
	model, err := l.models[r.Model].Now(ctx)
	if err != nil {
		return none, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return none, err
	}
	sum := sha256.Sum256(strconv.AppendInt(text, int64(model.Steps), 10))
	id := hex.EncodeToString(sum[:8])
	if got, err := l.get(id); err == nil {
		return got, nil
	}
	select {
	case l.seeing <- struct{}{}:
		defer func() { <-l.seeing }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if got, err := l.get(id); err == nil { // another request has asked for the same pass
		return got, nil
	}
	seen, err := model.Forward(ctx, r.Request)
	if err != nil {
		return none, err
	}
	got := passAnswer{id, r.Model, seen}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.kept {
		if k.Model == r.Model && k.Steps != seen.Steps {
			k.Forget() // copies of a run's weights at many steps would fill the memory
		}
	}
	if l.kept = append(l.kept, got); len(l.kept) > maxPasses {
		l.kept = l.kept[1:]
	}
	return got, nil
}

// get returns a kept pass and marks it as the most recently used one.
func (l *passes) get(id string) (passAnswer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.kept, func(k passAnswer) bool { return k.ID == id })
	if i < 0 {
		return passAnswer{}, errGone
	}
	got := l.kept[i]
	l.kept = append(slices.Delete(l.kept, i, i+1), got)
	return got, nil
}
