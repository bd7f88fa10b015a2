package serve

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"attention/cmd/attention/internal/view/forward"
	"attention/cmd/attention/internal/view/web"
)

// MaxExport is the most bytes of numbers in an exported page.
const MaxExport = 50 << 20

// exportPolicy is the Content-Security-Policy of an exported page, which loads nothing from outside its file.
const exportPolicy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ` +
	`script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:">`

// export collects the answers to the requests that the page would send.
type export struct {
	server  *Server
	answers map[string]json.RawMessage // by path; a pack is base64 text
	size    int                        // total size of the packs
	most    int                        // largest size
	ways    int                        // bytes of journeys
	left    []string                   // parts that exceed the limit
}

// Export writes the page as one file with its numbers, up to MaxExport bytes. It returns the parts that do not fit.
func Export(ctx context.Context, c Config, w io.Writer) (left []string, err error) {
	return exportUpTo(ctx, c, MaxExport, w)
}

func exportUpTo(ctx context.Context, c Config, most int, w io.Writer) (left []string, err error) {
	s := newUnserved(c)
	e := &export{server: s, answers: map[string]json.RawMessage{}, most: most}
	if c.Run != nil {
		if err := e.add(ctx, s.training, "training", ""); err != nil {
			return nil, err
		}
		if err := e.add(ctx, s.recording, "watched", "the weights over the steps"); err != nil {
			return nil, err
		}
	}
	if c.Folder != nil {
		if err := e.addRuns(ctx); err != nil {
			return nil, err
		}
	}
	add := e.addModels
	if len(c.chosen.Passes) > 0 {
		add = e.addChosen
	}
	if err := add(ctx); err != nil {
		return nil, err
	}
	if c.Chapter {
		for i := range forward.Contents() {
			if err := e.add(ctx, s.section, sectionPath(i+1), ""); err != nil {
				return nil, err
			}
		}
	}
	view := s.contents()
	view.Left = e.left
	if err := e.keep("view", view); err != nil {
		return nil, err
	}
	return e.left, e.write(w)
}

// addRuns adds the list of the folder's runs and their loss curves.
func (e *export) addRuns(ctx context.Context) error {
	if err := e.add(ctx, e.server.runs, "runs", ""); err != nil {
		return err
	}
	all, err := e.server.config.Folder.List()
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := e.add(ctx, e.server.curves, curvesPath(r.Name), ""); err != nil {
			return err
		}
	}
	return nil
}

// addModels adds the passes of each model over the text. Compare shows the first model's translation in all models. If
// another model's own translation is different, that pass is added too.
func (e *export) addModels(ctx context.Context) error {
	compared := ""
	for i, m := range e.server.config.Models {
		if len(e.left) > 0 {
			e.left = append(e.left, m.Name)
			continue
		}
		text := cmp.Or(e.server.config.Text, m.Example)
		l, err := e.addModel(ctx, i, text)
		if err != nil {
			return err
		}
		if i == 0 {
			compared = l.Whole
		} else if text != compared && len(l.Sequences) > 1 {
			if _, err := e.addModel(ctx, i, compared); err != nil {
				return err
			}
		}
	}
	return nil
}

// addModel adds a model over a text.
func (e *export) addModel(ctx context.Context, model int, text string) (*forward.Pass, error) {
	l, err := e.addPass(ctx, passRequest{Model: model, Request: forward.Request{Text: text}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.server.config.Models[model].Name, err)
	}
	return l, nil
}

// add adds the answer to a GET request for a path if the answer fits; what names the part. JSON always fits.
func (e *export) add(ctx context.Context, answer handler, path, what string) error {
	if err := ctx.Err(); err != nil || e.answers[path] != nil {
		return err
	}
	_, query, _ := strings.Cut(path, "?")
	got, err := answer((&http.Request{URL: &url.URL{RawQuery: query}}).WithContext(ctx))
	if err != nil {
		return err
	}
	p, ok := got.(packed)
	if !ok {
		return e.keep(path, got)
	}
	data, err := p.bytes()
	if err != nil {
		return err
	}
	text := base64.StdEncoding.EncodeToString(data)
	if e.size+len(text) > e.most {
		if !slices.Contains(e.left, what) {
			e.left = append(e.left, what)
		}
		return nil
	}
	e.size += len(text)
	return e.keep(path, text)
}

// keep keeps the answer to a request of a path.
func (e *export) keep(path string, answer any) (err error) {
	e.answers[path], err = json.Marshal(answer)
	return err
}

// write writes the page with its modules, style and answers inside. The JSON of the answers has no <, so that no text
// in it becomes markup.
func (e *export) write(w io.Writer) error {
	data, err := json.Marshal(e.answers)
	if err != nil {
		return err
	}
	modules, err := web.Modules()
	if err != nil {
		return err
	}
	imports, err := json.Marshal(map[string]any{"imports": modules})
	if err != nil {
		return err
	}
	page, err := web.File("/")
	if err != nil {
		return err
	}
	style, err := web.File("/app.css")
	if err != nil {
		return err
	}
	replaced := strings.NewReplacer(
		`<link rel="icon" href="icon.svg">`, exportPolicy,
		`<link rel="stylesheet" href="app.css">`, "<style>"+string(style)+"</style>",
		`<script type="module" src="main.js"></script>`,
		`<script type="application/json" id="data">`+string(data)+"</script>\n"+
			`<script type="importmap">`+string(imports)+"</script>\n"+
			`<script type="module">import 'page/main.js';</script>`)
	_, err = replaced.WriteString(w, strings.TrimSpace(string(page)))
	return err
}
