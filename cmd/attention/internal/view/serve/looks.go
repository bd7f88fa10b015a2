package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"attention/cmd/attention/internal/view/look"
)

// maxLooks is how many looks are kept.
const maxLooks = 6

// looks computes and keeps looks.
type looks struct {
	models []*look.Model
	seeing chan struct{} // holds an element while a look is computed

	mu   sync.Mutex
	kept []keptLook // in order of their last use
}

type keptLook struct {
	id   string
	look *look.Look
}

// lookRequest asks for a look.
type lookRequest struct {
	Model int `json:"model"`
	look.Request
}

// errBusy is the error of a request while too many others are answered.
var errBusy = errors.New("the server computes too much at once; try again")

// errGone is the error of a look that is not kept any more. The page gets an ordinary answer, {"gone": true}, and sends
// its request again.
var errGone = errors.New("the look is not kept any more")

func newLooks(models []*look.Model) *looks {
	return &looks{models: models, seeing: make(chan struct{}, 1)}
}

// see returns the look of a request and its id, which equal requests share.
func (l *looks) see(ctx context.Context, r lookRequest) (id string, got *look.Look, err error) {
	if r.Model < 0 || r.Model >= len(l.models) {
		return "", nil, fmt.Errorf("model: got %d, want one of %d", r.Model, len(l.models))
	}
	model, err := l.models[r.Model].Now(ctx)
	if err != nil {
		return "", nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(strconv.AppendInt(text, int64(model.Steps), 10))
	id = hex.EncodeToString(sum[:8])
	if got, err := l.get(id); err == nil {
		return id, got, nil
	}
	select {
	case l.seeing <- struct{}{}:
		defer func() { <-l.seeing }()
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
	if got, err := l.get(id); err == nil { // another has asked for the same
		return id, got, nil
	}
	if got, err = model.See(ctx, r.Request); err != nil {
		return "", nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept = append(l.kept, keptLook{id, got}); len(l.kept) > maxLooks {
		l.kept = l.kept[1:]
	}
	return id, got, nil
}

// get returns a look that is kept.
func (l *looks) get(id string) (*look.Look, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, k := range l.kept {
		if k.id == id {
			l.kept = append(append(l.kept[:i:i], l.kept[i+1:]...), k)
			return k.look, nil
		}
	}
	return nil, errGone
}
