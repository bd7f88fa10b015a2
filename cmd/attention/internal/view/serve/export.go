package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"attention/cmd/attention/internal/view/look"
	"attention/cmd/attention/internal/view/web"
)

// MaxExport is the most bytes of numbers in an exported page.
const MaxExport = 50 << 20

// exportPolicy lets the page use what is in its file and nothing else.
const exportPolicy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ` +
	`script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">`

// export collects the answers that the page would ask for.
type export struct {
	answers map[string]any // by path; packs in base64
	size    int            // bytes of the packs
	most    int            // largest size
	left    []string       // what has no room
}

// exportedView is what there is to see in an exported page, and what it has no room for.
type exportedView struct {
	viewAnswer
	Left []string `json:"left"`
}

// Export writes the page as one file with all its numbers, up to MaxExport bytes of them. It returns what has no room.
func Export(ctx context.Context, c Config, w io.Writer) (left []string, err error) {
	return exportUpTo(ctx, c, MaxExport, w)
}

func exportUpTo(ctx context.Context, c Config, most int, w io.Writer) (left []string, err error) {
	s := &Server{config: c, looks: newLooks(c.Models)}
	e := &export{answers: map[string]any{}, most: most}
	if c.Run != nil {
		if err := e.addRun(s); err != nil {
			return nil, err
		}
	}
	if err := e.addModels(ctx, s); err != nil {
		return nil, err
	}
	if c.Chapter {
		if err := e.addChapter(s); err != nil {
			return nil, err
		}
	}
	e.answers["view"] = exportedView{s.contents(), e.left}
	return e.left, e.write(w)
}

// addRun adds what a run recorded.
func (e *export) addRun(s *Server) error {
	state, err := s.training(nil)
	if err != nil {
		return err
	}
	e.answers["training"] = state
	watched, err := s.packWatched()
	if err != nil {
		return err
	}
	return e.add("watched", "the weights over the steps", watched)
}

// addModels adds what is seen of each model over the text. Compare looks at the first model's translation with all
// models: where another model's own is different, that look is added, too.
func (e *export) addModels(ctx context.Context, s *Server) error {
	compared := ""
	for i, m := range s.config.Models {
		if len(e.left) > 0 {
			e.left = append(e.left, m.Name)
			continue
		}
		text := cmp.Or(s.config.Text, m.Example)
		l, err := e.addModel(ctx, s, i, text)
		if err != nil {
			return err
		}
		if i == 0 {
			compared = l.Whole
		} else if text != compared && len(l.Sequences) > 1 {
			if _, err := e.addModel(ctx, s, i, compared); err != nil {
				return err
			}
		}
	}
	return nil
}

// addModel adds a model over a text: the thumbnails of all layers, the heads layer by layer, and their values.
func (e *export) addModel(ctx context.Context, s *Server, model int, text string) (*look.Look, error) {
	request := lookRequest{Model: model, Request: look.Request{Text: text}}
	id, l, err := s.looks.see(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.config.Models[model].Name, err)
	}
	e.answers[request.path()] = describe(id, model, l)
	for i, layer := range l.Layers {
		p, err := packThumbnails(layer)
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("thumbnails of layer %d of %s", i, l.Model.Name)
		if err := e.add(layerKey{id, i}.thumbnails(), what, p); err != nil {
			return nil, err
		}
	}
	if err := e.addHeads(ctx, id, l, "", headKey.weights, packHead); err != nil {
		return nil, err
	}
	return l, e.addHeads(ctx, id, l, "steps of ", headKey.values, packValues) // which Steps computes with
}

// addHeads adds a pack of each head of a look.
func (e *export) addHeads(ctx context.Context, id string, l *look.Look, what string, path func(headKey) string,
	pack func(l *look.Layer, head int) (*pack, error)) error {
	for i, layer := range l.Layers {
		for head := range layer.Heads {
			if err := ctx.Err(); err != nil {
				return err
			}
			p, err := pack(layer, head)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%slayer %d, head %d of %s", what, i, head, l.Model.Name)
			if err := e.add(path(headKey{layerKey{id, i}, head}), name, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a pack if there is room for it.
func (e *export) add(path, what string, p *pack) error {
	data, err := p.bytes()
	if err != nil {
		return err
	}
	text := base64.StdEncoding.EncodeToString(data)
	if e.size+len(text) > e.most {
		e.left = append(e.left, what)
		return nil
	}
	e.size += len(text)
	e.answers[path] = text
	return nil
}

// write writes the page with its script, style and answers inside. The answers' JSON has no <, so that no text of
// theirs is markup.
func (e *export) write(w io.Writer) error {
	data, err := json.Marshal(e.answers)
	if err != nil {
		return err
	}
	var parts [3]string
	for i, name := range []string{"index.html", "app.css", "app.js"} {
		text, err := web.File(name)
		if err != nil {
			return err
		}
		parts[i] = string(bytes.TrimSpace(text))
	}
	replaced := strings.NewReplacer(
		`<link rel="icon" href="icon.svg">`, exportPolicy,
		`<link rel="stylesheet" href="app.css">`, "<style>"+parts[1]+"</style>",
		`<script src="app.js"></script>`,
		`<script type="application/json" id="data">`+string(data)+"</script>\n<script>"+parts[2]+"</script>")
	_, err = replaced.WriteString(w, parts[0])
	return err
}
