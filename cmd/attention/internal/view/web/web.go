// Package web is the page of attention view. The server sends its modules in src unchanged. The folder dist has
// esbuild's output for src/d3.js, which is code of other authors, with its licences.
package web

//go:generate npm ci --silent --ignore-scripts
//go:generate npm run --silent build

import (
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
)

//go:embed src dist
var content embed.FS

// file is an asset: its name in content and its type.
type file struct{ name, kind string }

// files are the assets by the path of their URL.
var files = list()

func list() map[string]file {
	kinds := map[string]string{
		".js":   "text/javascript; charset=utf-8",
		".css":  "text/css; charset=utf-8",
		".svg":  "image/svg+xml",
		".html": "text/html; charset=utf-8",
		".txt":  "text/plain; charset=utf-8",
	}
	all := map[string]file{}
	for _, root := range []string{"src", "dist"} { // d3.js is the file in dist
		err := fs.WalkDir(content, root, func(name string, d fs.DirEntry, err error) error {
			if kind, ok := kinds[path.Ext(name)]; ok && !d.IsDir() {
				all[strings.TrimPrefix(name, root)] = file{name, kind}
			}
			return err
		})
		if err != nil {
			panic(err) // the files are embedded, so reading cannot fail
		}
	}
	all["/"] = all["/index.html"]
	return all
}

// File returns an asset by the path of its URL.
func File(url string) ([]byte, error) { return content.ReadFile(files[url].name) }

// imported matches the name of a module in an import.
var imported = regexp.MustCompile(`(from|import) '(\.[^']*)'`)

// comment matches lines that are comments.
var comment = regexp.MustCompile(`(?m)^ *(?://.*|/\*\*(?:[^*]|\*[^/])*\*/)\n`)

// Modules returns the modules without comments for the import map of a page in one file. They are data URLs with names
// such as page/main.js, by which they import each other. It is the same map each time.
func Modules() (map[string]string, error) { return modules() }

var modules = sync.OnceValues(func() (map[string]string, error) {
	all := map[string]string{}
	for url := range files {
		if path.Ext(url) != ".js" {
			continue
		}
		text, err := File(url)
		if err != nil {
			return nil, err
		}
		text = imported.ReplaceAllFunc(comment.ReplaceAll(text, nil), func(match []byte) []byte {
			found := imported.FindSubmatch(match)
			return []byte(string(found[1]) + " 'page" + path.Join(path.Dir(url), string(found[2])) + "'")
		})
		all["page"+url] = "data:text/javascript;base64," + base64.StdEncoding.EncodeToString(text)
	}
	return all, nil
})

// Handler serves the assets, and nothing else.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		body, err := content.ReadFile(f.name)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", f.kind)
		_, _ = w.Write(body) // the browser may have disconnected
	})
}
