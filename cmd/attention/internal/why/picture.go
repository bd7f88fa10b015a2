package why

import (
	"context"
	"fmt"

	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// What both models of the task have in common.
const (
	pictureSteps = 2000
	pictureBatch = 32
	pictureRate  = 0.003
	testPictures = 320 // of each seed
)

// eyes are the models: one sees all tiles, the other each tile alone.
var eyes = []struct {
	name string
	seen mask.Mask
}{{"attention", nil}, {"each alone", mask.SlidingWindow{}}}

// pictureReport is what report.json tells of the task.
type pictureReport struct {
	Steps    int         `json:"steps"`
	Batch    int         `json:"batch"`
	Rate     float64     `json:"learning_rate"`
	Seconds  float64     `json:"seconds"`       // of all trainings, some side by side
	Pictures int         `json:"test_pictures"` // of each seed
	Chance   float64     `json:"chance"`
	Models   []eyeResult `json:"models"`
}

// eyeResult is what became of one model. The outer axis is that of the seeds.
type eyeResult struct {
	Name       string       `json:"name"`
	Parameters int          `json:"parameters"`
	Loss       []float64    `json:"loss"`   // of the last steps, in nats an answer
	Digits     []float64    `json:"digits"` // the share of right answers: of digits, which ask for themselves
	Arrows     []float64    `json:"arrows"`
	Colours    []float64    `json:"colours"`
	Looks      [][]headLook `json:"looks,omitempty"` // of each head of each block
}

// headLook is how often the tile that a head looks at most is the one that an asker asks for.
type headLook struct {
	Block   int     `json:"block"`
	Head    int     `json:"head"`
	Arrows  float64 `json:"arrows"`
	Colours float64 `json:"colours"`
}

const (
	eyeBlocks = 2
	eyeHeads  = 4
)

func newEye(seed int64) (*layers.ViT, error) {
	return layers.NewViT(layers.NewParams(tensor.Float32, seed).Scope(""), layers.ViTConfig{
		Height: width, Width: width, Channels: 3, PatchSize: tileSize,
		EmbedDim: 64, NumLayers: eyeBlocks, NumHeads: eyeHeads, NumClasses: digits})
}

// picture runs the task.
func (c *comparison) picture(ctx context.Context) error {
	r := &pictureReport{Steps: c.steps(pictureSteps), Batch: pictureBatch, Rate: pictureRate, Pictures: testPictures,
		Chance: 1.0 / digits}
	shares := func() []float64 { return make([]float64, len(c.seeds)) }
	for _, eye := range eyes {
		result := eyeResult{Name: eye.name, Loss: shares(), Digits: shares(), Arrows: shares(), Colours: shares()}
		if eye.seen == nil {
			result.Looks = make([][]headLook, len(c.seeds))
		}
		r.Models = append(r.Models, result)
	}
	c.report.Picture = r
	fmt.Fprintf(c.out, "Pictures of %d x %d tiles, and what arrows and colours ask for: %d steps of %d\n\n", side, side,
		r.Steps, r.Batch)
	fmt.Fprintf(c.out, "%39s  right answers, %%: of\n%6s  %-12s %10s %9s %9s %8s %8s\n", "", "seed", "model", "parameters",
		"loss", "digits", "arrows", "colours")
	var first *layers.ViT // with attention, of the first seed
	t := &trials{models: len(eyes), seeds: len(c.seeds), steps: r.Steps, rate: r.Rate,
		run: func(ctx context.Context, t *trials, model, seed int) error {
			m, err := r.Models[model].train(ctx, t, eyes[model].seen, c.seeds[seed], seed)
			if model == 0 && seed == 0 {
				first = m
			}
			return err
		},
		print: func(model, seed int) {
			m := r.Models[model]
			fmt.Fprintf(c.out, "%6d  %-12s %10d %9.4f %9.1f %8.1f %8.1f\n", c.seeds[seed], m.Name, m.Parameters, m.Loss[seed],
				100*m.Digits[seed], 100*m.Arrows[seed], 100*m.Colours[seed])
		}}
	var err error
	if r.Seconds, err = t.all(ctx, c.out); err != nil {
		return err
	}
	c.printLooks(r)
	return c.drawLooks(ctx, first, c.seeds[0])
}

// train trains the model from a seed, the i-th, and adds its results.
func (r *eyeResult) train(ctx context.Context, t *trials, seen mask.Mask, seed int64, i int) (*layers.ViT, error) {
	m, err := newEye(seed)
	if err != nil {
		return nil, err
	}
	r.Loss[i], err = t.train(ctx, m.Params(), newTileBatch(pictureBatch, streamed(seed, trainStream)), seed,
		func(b *layers.Build) (*G.Node, error) {
			return m.Loss(b, pixelsNode(b, pictureBatch), b.InputOf(tensor.Int, answersInput, pictureBatch, tiles), seen)
		})
	if err != nil {
		return nil, err
	}
	if i == 0 {
		r.Parameters = m.Params().Count()
	}
	return m, r.examine(ctx, t, m, seen, i, seed)
}

func pixelsNode(b *layers.Build, size int) *G.Node {
	return b.Input(pixelsInput, size, width, width, 3)
}

// examine counts right answers and looks on new pictures.
func (r *eyeResult) examine(ctx context.Context, t *trials, m *layers.ViT, seen mask.Mask, i int, seed int64) error {
	t.building.Lock()
	e, err := newExam(m, pictureBatch, seen)
	t.building.Unlock()
	if err != nil {
		return err
	}
	var count tally
	source := newTileBatch(pictureBatch, streamed(seed, testStream))
	for range testPictures / pictureBatch {
		answers, most, err := e.take(ctx, source)
		if err != nil {
			return err
		}
		count.add(source, answers, most)
	}
	for kind, shares := range [][]float64{digitTile: r.Digits, arrowTile: r.Arrows, colourTile: r.Colours} {
		shares[i] = count.share(kind, count.right[kind])
	}
	if r.Looks != nil {
		r.Looks[i] = count.looks()
	}
	return nil
}

// tally counts answers and looks, by the kind of the asker.
type tally struct {
	asked, right [3]int
	looked       [eyeBlocks][eyeHeads][3]int
}

// add counts the answers (B, tiles) of a batch, and for each block the tiles (B, H, tiles) that are looked at most.
func (t *tally) add(b *tileBatch, answers []int, most [][]int) {
	for i, picture := range b.pictures {
		for at, asker := range picture {
			t.asked[asker.kind]++
			if answers[i*tiles+at] == picture[asker.answer].digit {
				t.right[asker.kind]++
			}
			for block := range most {
				for h := range eyeHeads {
					if most[block][(i*eyeHeads+h)*tiles+at] == asker.answer {
						t.looked[block][h][asker.kind]++
					}
				}
			}
		}
	}
}

func (t *tally) share(kind, n int) float64 { return float64(n) / float64(t.asked[kind]) }

func (t *tally) looks() (all []headLook) {
	for block, heads := range t.looked {
		for h, n := range heads {
			all = append(all, headLook{Block: block + 1, Head: h + 1, Arrows: t.share(arrowTile, n[arrowTile]),
				Colours: t.share(colourTile, n[colourTile])})
		}
	}
	return all
}
