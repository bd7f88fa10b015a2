package translate

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/cmd/attention/internal/session"
	"attention/internal/folder"
	"attention/train/tasks/dates"
)

// writeCross writes a picture of the cross-attention weights of a pair to the file out, or to the run folder f if out
// is empty.
func writeCross(m *dates.Model, w io.Writer, of string, f *session.Folder, out string, p dates.Pair) error {
	weights, err := m.CrossWeights(p)
	if err != nil {
		return err
	}
	layer := m.Config().NumDecoderLayers - 1
	picture := crossPicture(fmt.Sprintf("cross-attention, layer %d, %s", layer, of), p, weights)
	if out == "" {
		out, err = filepath.Join(f.Path, session.AttentionPicture), f.Write(session.AttentionPicture, picture.Write)
	} else if err = folder.WriteFile(out, picture.Write); err != nil {
		err = fmt.Errorf("--picture: %w", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s: what the decoder looks at to write\n%s for %q\n", out, p.ISO, p.Written)
	return nil
}

// crossPicture returns the weights of each head.
func crossPicture(title string, p dates.Pair, heads [][]float64) plot.HeatMaps {
	picture := plot.HeatMaps{Title: title, X: "encoder's input", Y: "decoder's output", Scale: "attention weight"}
	columns := strings.Split(strings.ReplaceAll(p.Written, " ", "·"), "")
	for h, weights := range heads {
		picture.Maps = append(picture.Maps, plot.HeatMap{Title: fmt.Sprintf("head %d", h),
			Columns: columns, Rows: strings.Split(p.ISO, ""), Values: weights})
	}
	return picture
}
