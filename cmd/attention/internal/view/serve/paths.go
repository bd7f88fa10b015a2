package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"attention/cmd/attention/internal/view/forward"
)

// The paths of the page's requests, for an exported page.
func layerPath(kind, pass string, layer int) string {
	return fmt.Sprintf("%s?pass=%s&layer=%d", kind, pass, layer)
}
func headPath(kind, pass string, layer, head int) string {
	return fmt.Sprintf("%s&head=%d", layerPath(kind, pass, layer), head)
}
func journeyPath(pass string, layer, token int) string {
	return fmt.Sprintf("%s&token=%d", layerPath("journey", pass, layer), token)
}
func nextPath(pass string, at int, temperature float64) string {
	return fmt.Sprintf("next?pass=%s&at=%d&temperature=%v", pass, at, temperature)
}

// path names the request and its changes, as api.js does.
func (r passRequest) path() string {
	path := fmt.Sprintf("forward %d %s", r.Model, r.Text)
	if len(r.Then)+len(r.Hide)+len(r.Heads) == 0 {
		return path
	}
	numbers := func(of []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(of), " ", "."), "[]") }
	path += fmt.Sprintf("|%s|%s|", numbers(r.Then), numbers(r.Hide))
	for _, h := range r.Heads {
		path += fmt.Sprintf("%dx%dx%v_", h.Layer, h.Head, h.Factor)
	}
	return path
}
func curvesPath(run string) string  { return "curves?" + url.Values{"run": {run}}.Encode() }
func sectionPath(number int) string { return fmt.Sprintf("section?number=%d", number) }

// temperatures is the number of temperatures in an exported page: 0, 0.1, 0.2 and so on.
const temperatures = 21

// layerOf returns the layer of a request.
func (s *Server) layerOf(r *http.Request) (*forward.Layer, error) {
	l, err := s.passes.get(r.URL.Query().Get("pass"))
	if err != nil {
		return nil, err
	}
	n, err := number(r, "layer", len(l.Layers))
	if err != nil {
		return nil, err
	}
	return l.Layers[n], nil
}

// headOf returns the layer and the head of a request.
func (s *Server) headOf(r *http.Request) (l *forward.Layer, head int, err error) {
	if l, err = s.layerOf(r); err != nil {
		return nil, 0, err
	}
	head, err = number(r, "head", l.Heads)
	return l, head, err
}

// number returns a number of the URL from 0 to below n.
func number(r *http.Request, name string, n int) (int, error) {
	text := r.URL.Query().Get(name)
	v, err := strconv.Atoi(text)
	if err != nil || v < 0 || v >= n {
		return 0, fmt.Errorf("%s: got %.20q, want a number from 0 to %d", name, text, n-1)
	}
	return v, nil
}
