package why

import (
	"context"
	"fmt"
	"math/rand/v2"

	"attention/graph/mask"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// pictureTask is the task's name, pictureSteps how long each model is trained without --steps.
const (
	pictureTask  = "picture"
	pictureSteps = 2000
	pictureBatch = 32
	testPictures = 320 // of each seed
)

// picture returns the task of answering the tiles of a picture that ask for a digit.
func picture() task {
	return task{
		name: pictureTask,
		report: taskReport{Steps: pictureSteps, Batch: pictureBatch, Rate: 0.003, Pictures: testPictures,
			Chance: 1.0 / digits, Models: []modelReport{{Name: "attention"}, {Name: "each alone"}}},
		title: fmt.Sprintf("Pictures of %d x %d tiles, and what arrows and colours ask for", side, side),
		head: fmt.Sprintf("%39s  right answers, %%: of\n%6s  %-12s %10s %9s %9s %8s %8s", "",
			"seed", "model", "parameters", "loss", "digits", "arrows", "colours"),
		create: newEye,
		results: func(m modelReport) string {
			last := len(m.Loss) - 1
			return fmt.Sprintf(" %9.1f %8.1f %8.1f", 100*m.Digits[last], 100*m.Arrows[last], 100*m.Colours[last])
		},
		compare: func(ctx context.Context, c *comparison, r *taskReport, models []learner) error {
			c.printLooks(r)
			return c.drawLooks(ctx, models[0].(eye))
		},
	}
}

// eye is a model that learns to answer.
type eye struct {
	*layers.ViT
	seen mask.Mask // by each tile; nil means all tiles
}

const (
	eyeBlocks = 2
	eyeHeads  = 4
)

// newEye returns the model with attention, or the other one, with the initial weights of a seed.
func newEye(model int, seed int64) (learner, error) {
	m, err := layers.NewViT(layers.NewParams(tensor.Float32, seed).Scope(""), layers.ViTConfig{
		Height: width, Width: width, Channels: 3, PatchSize: tileSize,
		EmbedDim: 64, NumLayers: eyeBlocks, NumHeads: eyeHeads, NumClasses: digits})
	if model == 0 {
		return eye{ViT: m}, err
	}
	return eye{m, mask.SlidingWindow{}}, err
}

func (eye) examples(random *rand.Rand) train.Source { return newTileBatch(pictureBatch, random) }

func (m eye) exampleLoss(b *layers.Build) (*G.Node, error) {
	return m.Loss(b, pixelsNode(b, pictureBatch), b.InputOf(tensor.Int, answersInput, pictureBatch, tiles), m.seen)
}

// pixelsNode makes the input of the pixels of some pictures.
func pixelsNode(b *layers.Build, size int) *G.Node {
	return b.Input(pixelsInput, size, width, width, 3)
}

func (m eye) examine(ctx context.Context, seed int64) (record func(*modelReport), err error) {
	e, err := newExam(m, pictureBatch)
	if err != nil {
		return nil, err
	}
	var count tally
	source := newTileBatch(pictureBatch, streamed(seed, testStream))
	for range testPictures / pictureBatch {
		seen, err := e.take(ctx, source)
		if err != nil {
			return nil, err
		}
		count.add(source, seen)
	}
	return func(r *modelReport) {
		r.Digits = append(r.Digits, count.share(digitTile, count.right[digitTile]))
		r.Arrows = append(r.Arrows, count.share(arrowTile, count.right[arrowTile]))
		r.Colours = append(r.Colours, count.share(colourTile, count.right[colourTile]))
		if m.seen == nil {
			r.Looks = append(r.Looks, count.looks())
		}
	}, nil
}

// tally counts answers and looks by the kind of the asker.
type tally struct {
	asked, right [3]int
	looked       [eyeBlocks][eyeHeads][3]int
}

// add counts what a model answers to a batch, and where it looks most.
func (t *tally) add(b *tileBatch, seen glance) {
	for i, picture := range b.pictures {
		for at, asker := range picture {
			t.asked[asker.kind]++
			if seen.answers[i*tiles+at] == picture[asker.answer].digit {
				t.right[asker.kind]++
			}
			for block := range seen.most {
				for h := range eyeHeads {
					if seen.most[block][(i*eyeHeads+h)*tiles+at] == asker.answer {
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
