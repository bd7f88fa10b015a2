// Package web is the page of attention view. Its source is src; dist is what esbuild makes of it, which the program
// embeds, with the licences of the packages in it.
package web

//go:generate npm ci --silent
//go:generate npm run --silent build

import (
	"embed"
	"net/http"
	"path"
)

//go:embed dist
var dist embed.FS

// files are the assets by the path of their URL.
var files = map[string]struct{ name, kind string }{
	"/":             {"index.html", "text/html; charset=utf-8"},
	"/app.js":       {"app.js", "text/javascript; charset=utf-8"},
	"/app.css":      {"app.css", "text/css; charset=utf-8"},
	"/icon.svg":     {"icon.svg", "image/svg+xml"},
	"/licences.txt": {"licences.txt", "text/plain; charset=utf-8"},
}

// File returns an asset.
func File(name string) ([]byte, error) { return dist.ReadFile(path.Join("dist", name)) }

// Handler serves the assets, and nothing else.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		body, err := File(f.name)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", f.kind)
		_, _ = w.Write(body) // the browser may have gone
	})
}
