package view_test

import (
	"bufio"
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestPictures takes the pictures of the READMEs: one of SmolLM2-135M-Instruct, whose folder VIEW_MODEL names, the
// others of a model that is trained for a minute:
//
//	VIEW_PICTURES=pictures VIEW_MODEL=smollm2 go test -run TestPictures ./cmd/attention/internal/view
func TestPictures(t *testing.T) {
	dir := os.Getenv("VIEW_PICTURES")
	if dir == "" {
		t.Skip("VIEW_PICTURES names the folder that the pictures are written to")
	}
	browser(t)
	program, err := attention()
	require.NoError(t, err)
	model := filepath.Join(t.TempDir(), "nano-char")
	train := exec.Command(program, "train", "--preset", "nano-char", "--steps", "1000", "--eval-every", "100", "--out", model)
	out, err := train.CombinedOutput()
	require.NoError(t, err, "%s", out)
	const text = "text=It+is+the+attention+of+each+word+that+tells+what"
	p := openPage(t, "", "--run", model)
	for _, picture := range []struct{ name, state, ready string }{
		{"changed", "panel=attention&theme=dark&hide=43&factors=1x0x0&" + text, `document.querySelector(".arcs .before")`},
		{"journey", "panel=journey&theme=light&layer=1&head=1&q=20&text=It+is+the+attention+of+each+word", journeyShown},
		{"heads", "panel=heads&theme=light&" + text, `document.querySelectorAll(".statistics tbody tr").length === 16`},
		{"training", "panel=training&theme=light&probe=1&phead=1", `document.querySelector("#moment")`},
	} {
		p.take(dir, picture.name, picture.state, picture.ready)
	}
	if smollm2 := os.Getenv("VIEW_MODEL"); smollm2 != "" {
		p = openPage(t, "", "--model", smollm2)
		p.take(dir, "attention", "panel=attention&theme=light&layer=13&head=8&q=8&"+
			"text=The+animal+didn%27t+cross+the+street+because+it+was+too+tired", arcsDrawn)
	}
	p = openPage(t, "", "--chapter")
	p.take(dir, "chapter", "section=9&theme=light", `document.querySelectorAll(".matrix").length > 5`)
	url := startWhy(t, program)
	p = tab(t, url, url)
	p.do(chromedp.Navigate(url))
	p.take(dir, "why", "theme=light&text=beachfacadebigheadcabbage&at=17",
		`document.querySelectorAll("svg.reversing").length === 3`)
}

// startWhy starts attention why --view and returns the URL of its page.
func startWhy(t *testing.T, program string) (url string) {
	why := exec.Command(program, "why", "--view")
	out, err := why.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, why.Start())
	t.Cleanup(func() {
		_ = why.Process.Kill()
		_ = why.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// take writes a picture of a state of the page without the hints.
func (p *page) take(dir, name, state, ready string) {
	p.t.Helper()
	js[string](p, `document.cookie = "attention-hints=seen; path=/"`)
	p.set(state)
	p.do(chromedp.Reload())
	p.waitFor(ready)
	p.settle()
	js[bool](p, `(document.activeElement.blur(), document.querySelector("#moment")?.parentElement.previousSibling.scrollIntoView(),
		new Promise((seen) => setTimeout(() => seen(true), 500)))`)
	data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	picture, err := png.Decode(bytes.NewReader(data))
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), small(p.t, picture), 0o644))
}

// small encodes a picture as PNG with few colours.
func small(t testing.TB, picture image.Image) []byte {
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	var out bytes.Buffer
	require.NoError(t, encoder.Encode(&out, fewColours(picture)))
	return out.Bytes()
}

// fewColours reduces a picture to at most 256 colours: similar colours become the most frequent one of them.
func fewColours(picture image.Image) image.Image {
	size := picture.Bounds()
	from, count := image.NewRGBA(size), map[color.RGBA]int{}
	draw.Draw(from, size, picture, size.Min, draw.Src)
	for y := range size.Dy() {
		for x := range size.Dx() {
			count[from.RGBAAt(x, y)]++
		}
	}
	alike := func(c color.RGBA) color.RGBA { return color.RGBA{R: c.R / 12, G: c.G / 12, B: c.B / 12} }
	most, sum := map[color.RGBA]color.RGBA{}, map[color.RGBA]int{} // among similar ones
	byCount := func(count map[color.RGBA]int) func(a, b color.RGBA) int {
		return func(a, b color.RGBA) int {
			return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(count), byCount(count)) {
		if sum[alike(c)] += count[c]; sum[alike(c)] == count[c] {
			most[alike(c)] = c
		}
	}
	var palette color.Palette
	for i, key := range slices.SortedFunc(maps.Keys(sum), byCount(sum)) {
		if i < 256 {
			palette = append(palette, most[key])
		}
	}
	index := map[color.RGBA]uint8{}
	for c := range count {
		index[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(size, palette)
	for y := range size.Dy() {
		for x := range size.Dx() {
			out.SetColorIndex(x, y, index[from.RGBAAt(x, y)])
		}
	}
	return out
}

// The READMEs have six pictures of the page, and each file is small.
func TestPicturesStandInTheReadmes(t *testing.T) {
	var text []byte
	for _, path := range []string{"../../README.md", "../../../../README.md"} {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		text = append(text, content...)
	}
	names, err := filepath.Glob("pictures/*.png")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(names), 6)
	for _, name := range names {
		require.Contains(t, string(text), "internal/view/"+name)
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(150_000), name)
	}
}
