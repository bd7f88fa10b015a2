package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// handler returns the answer to a request: a pack, or any other value, which is sent as JSON.
type handler func(r *http.Request) (any, error)

// within answers at most cap(busy) requests concurrently and refuses more. A request holds its place only while its
// answer is computed: not while its body is read, and not while the client reads the answer.
func (f handler) within(busy chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil {
			writeError(w, http.StatusRequestTimeout, errors.New("the request did not come as a whole"))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		leave, ok := enter(busy)
		if !ok {
			writeError(w, http.StatusServiceUnavailable, errBusy)
			return
		}
		answer, kind, err := f.answer(r, leave)
		if err != nil {
			writeError(w, http.StatusBadRequest, err)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer) // the browser may have disconnected
	})
}

// answer returns the bytes and the type of the answer to a request, and releases its place.
func (f handler) answer(r *http.Request, leave func()) (body []byte, kind string, err error) {
	defer leave()
	defer func() {
		if _, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
			err = errors.New("got numbers that are not finite from the model, want finite ones: " +
				"take a smaller factor or value, unless the weights themselves are not finite")
		}
	}()
	got, err := f(r)
	if errors.Is(err, errGone) {
		got, err = &pack{About: struct {
			Gone bool `json:"gone"`
		}{true}}, nil
	}
	if err != nil {
		return nil, "", err
	}
	if p, ok := got.(packed); ok {
		body, err = p.bytes()
		return body, "application/octet-stream", err
	}
	body, err = json.Marshal(got)
	return body, "application/json", err
}

// enter takes a place if one is free; leave releases it.
func enter(places chan struct{}) (leave func(), ok bool) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, true
	default:
		return nil, false
	}
}

// limited answers at most cap(places) requests concurrently and refuses more. A request holds its place until it ends.
func limited(places chan struct{}, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leave, ok := enter(places)
		if !ok {
			writeError(w, http.StatusServiceUnavailable, errBusy)
			return
		}
		defer leave()
		next.ServeHTTP(w, r)
	})
}

// writeError writes an error as JSON.
func writeError(w http.ResponseWriter, code int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(struct { // the browser may have disconnected
		Error string `json:"error"`
	}{err.Error()})
}

// timed is a writer with a time limit for each part of the answer: a connection without progress is closed, but a slow
// one is not.
type timed struct {
	http.ResponseWriter
	each time.Duration
}

// timeWrites limits the time of each write of a handler.
func timeWrites(each time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&timed{w, each}, r)
	})
}

// Unwrap returns the writer for http.ResponseController.
func (t *timed) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// begin starts the time of a part. The server clears the last deadline when the request ends.
func (t *timed) begin() {
	_ = http.NewResponseController(t.ResponseWriter).SetWriteDeadline(time.Now().Add(t.each)) // a closed one fails later
}

// WriteHeader writes the code.
func (t *timed) WriteHeader(code int) {
	t.begin()
	t.ResponseWriter.WriteHeader(code)
}

// Write writes part by part.
func (t *timed) Write(text []byte) (n int, err error) {
	const part = 256 << 10
	for {
		t.begin()
		wrote, err := t.ResponseWriter.Write(text[:min(part, len(text))])
		n += wrote
		if text = text[wrote:]; err != nil || len(text) == 0 {
			return n, err
		}
	}
}
