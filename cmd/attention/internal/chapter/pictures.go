package chapter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/cmd/attention/internal/term"
	"attention/internal/dense"
	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/layers/chapter"

	"gorgonia.org/tensor"
)

// picture is a file for the folder of --pictures.
type picture struct {
	name  string
	write func(io.Writer) error
}

// pictures returns the pictures of a section: its steps as heat maps and, if it has a layer, the layer's graph as text of Mermaid.
func pictures(s chapter.Section, steps []chapter.Step) ([]picture, error) {
	heat := plot.Matrices{Title: title(s)}
	for _, step := range steps {
		heat.Steps = append(heat.Steps, matrices(step, heat.Steps)...)
	}
	all := []picture{{fmt.Sprintf("%02d-steps.png", s.Number), heat.Write}}
	if c := s.Layer(); c.Layer != "" {
		text, err := layerGraph(s)
		if err != nil {
			return nil, err
		}
		write := func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
		all = append(all, picture{fmt.Sprintf("%02d-graph.mmd", s.Number), write})
	}
	return all, nil
}

// largestDrawn is the largest number of rows or columns of a matrix that is drawn as a whole. A larger matrix is drawn
// by its first cornerSize rows and columns.
const (
	largestDrawn = chapter.MaxWords
	cornerSize   = 8
)

// matrices returns a step as heat maps: one, or one for each head or sequence that differs from the previous one; none
// for a single number. An arrow leads from the previous map to a map that is computed from it.
func matrices(s chapter.Step, before []plot.Matrix) (all []plot.Matrix) {
	shape := s.Value.Shape()
	if s.Value.Dtype() == tensor.Int || shape.Dims() == 0 {
		return nil
	}
	columns, rows := shape[shape.Dims()-1], 1
	if shape.Dims() > 1 {
		rows = shape[shape.Dims()-2]
	}
	title := s.Name
	if s.Formula != "" {
		title += " = " + s.Formula
	}
	values := dense.Float64s(s.Value)
	blocks := slices.Collect(slices.Chunk(values, rows*columns))
	for i, block := range blocks {
		if i > 0 && slices.Equal(block, blocks[i-1]) { // the other sequence of a batch
			continue
		}
		m := plot.Matrix{Title: drawable(title), Text: drawable(s.Text), Rows: s.Rows, Columns: s.Columns}
		if i < len(s.Blocks) && len(blocks) > 1 {
			m.Title += ", " + s.Blocks[i]
		}
		for row := range slices.Chunk(block, columns) {
			m.Values = append(m.Values, row)
		}
		all = append(all, corner(m))
	}
	if len(all) == 1 && len(before) > 0 {
		previous, _, _ := strings.Cut(before[len(before)-1].Title, " = ")
		all[0].Follows = names(s.Name+" "+s.Formula, previous)
	}
	return all
}

// names reports whether a formula contains a name as a whole word.
func names(formula, name string) bool {
	return regexp.MustCompile(`(^|[^\pL\d_])` + regexp.QuoteMeta(name) + `($|[^\pL\d_])`).MatchString(formula)
}

// corner returns the matrix, or only its first rows and columns if it is too large.
func corner(m plot.Matrix) plot.Matrix {
	rows, columns := len(m.Values), len(m.Values[0])
	if rows > largestDrawn || columns > largestDrawn {
		m.Text = fmt.Sprintf("%s Its corner: %d × %d of (%d, %d).", m.Text, cornerSize, cornerSize, rows, columns)
		m.Values = m.Values[:min(rows, cornerSize)]
		for i, row := range m.Values {
			m.Values[i] = row[:min(columns, cornerSize)]
		}
		m.Rows, m.Columns = nil, nil
	}
	return m
}

// drawable returns the text with other characters for those that the pictures' font lacks.
func drawable(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case plot.HasGlyph(c):
			return c
		case c == '⊙':
			return '×'
		}
		return '?'
	}, text)
}

// draw writes the pictures of sections into a folder and prints their paths to w.
func draw(ctx context.Context, w io.Writer, dir string, dt tensor.Dtype, sections []chapter.Section) (err error) {
	if dir == "" {
		return fmt.Errorf("--pictures: got nothing, want the name of a folder")
	}
	in, err := folder.Make(dir)
	if err != nil {
		return fmt.Errorf("--pictures: %w", err)
	}
	defer func() { err = oneline.Join(err, in.Close()) }()
	for _, s := range sections {
		steps, err := term.Await(ctx, func() ([]chapter.Step, error) { return s.Run(dt) })
		if err != nil {
			return err
		}
		all, err := term.Await(ctx, func() ([]picture, error) { return pictures(s, steps) })
		if err != nil {
			return err
		}
		for _, p := range all {
			drawn, err := term.Await(ctx, func() (*bytes.Buffer, error) {
				var b bytes.Buffer
				return &b, p.write(&b)
			})
			if err != nil {
				return err
			}
			err = in.Write(p.name, func(w io.Writer) error { _, err := w.Write(drawn.Bytes()); return err })
			if err != nil {
				return fmt.Errorf("--pictures: %w", err)
			}
			if _, err := fmt.Fprintln(w, in.Path(p.name)); err != nil {
				return err
			}
		}
	}
	return nil
}
