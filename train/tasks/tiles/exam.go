package tiles

import "context"

// Marks are the shares of right answers, by the kind of the tile that asks.
type Marks struct {
	Digits, Arrows, Colours float64
	Focus                   []HeadFocus // for each head of each block; none if each tile sees only itself
}

// HeadFocus holds the share of asking tiles for which the head's largest weight is on the tile that they ask for.
type HeadFocus struct {
	Block   int     `json:"block"` // from 1
	Head    int     `json:"head"`  // from 1
	Arrows  float64 `json:"arrows"`
	Colours float64 `json:"colours"`
}

// Exam returns the model's marks on a number of new batches of pictures.
func (m *Model) Exam(ctx context.Context, p *Pictures, batches int) (Marks, error) {
	run, err := m.glances()
	if err != nil {
		return Marks{}, err
	}
	var t tally
	for range batches {
		seen, err := run(ctx, p)
		if err != nil {
			return Marks{}, err
		}
		t.add(p, seen)
	}
	marks := Marks{Digits: t.share(Digit, t.right[Digit]), Arrows: t.share(Arrow, t.right[Arrow]),
		Colours: t.share(Colour, t.right[Colour])}
	if m.seen == nil {
		marks.Focus = t.focus()
	}
	return marks, nil
}

// tally counts answers and largest weights by the kind of the asking tile.
type tally struct {
	asked, right [3]int
	focused      [blocks][heads][3]int
}

// add counts the answers of a model to a batch, and the tiles with the largest weights.
func (t *tally) add(p *Pictures, seen Glance) {
	for i, picture := range p.pictures {
		for at, asker := range picture {
			t.asked[asker.Kind]++
			if seen.Answers[i*Tiles+at] == picture[asker.Answer].Digit {
				t.right[asker.Kind]++
			}
			for block := range seen.most {
				for h := range heads {
					if seen.most[block][(i*heads+h)*Tiles+at] == asker.Answer {
						t.focused[block][h][asker.Kind]++
					}
				}
			}
		}
	}
}

func (t *tally) share(k Kind, n int) float64 { return float64(n) / float64(t.asked[k]) }

func (t *tally) focus() (all []HeadFocus) {
	for block, ofHeads := range t.focused {
		for h, n := range ofHeads {
			all = append(all, HeadFocus{Block: block + 1, Head: h + 1, Arrows: t.share(Arrow, n[Arrow]),
				Colours: t.share(Colour, n[Colour])})
		}
	}
	return all
}
