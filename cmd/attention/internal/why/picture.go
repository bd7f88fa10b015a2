package why

import (
	"context"
	"fmt"

	"attention/cmd/attention/internal/term"
	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/tensorprint"
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
	Pictures int         `json:"test_pictures"` // of each seed
	Chance   float64     `json:"chance"`
	Models   []eyeResult `json:"models"`
}

// eyeResult is what became of one model. The outer axis is that of the seeds.
type eyeResult struct {
	Name       string       `json:"name"`
	Parameters int          `json:"parameters"`
	Seconds    []float64    `json:"seconds"` // of training
	Loss       []float64    `json:"loss"`    // of the last steps, in nats an answer
	Digits     []float64    `json:"digits"`  // the share of right answers: of digits, which ask for themselves
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
	c.report.Picture = r
	fmt.Fprintf(c.out, "Pictures of %d x %d tiles, and what arrows and colours ask for\n\n", side, side)
	fmt.Fprintf(c.out, "%44s%s\n%-12s %10s %9s %9s %8s %8s %8s\n", "", "right answers, %: of", "model", "parameters", "loss",
		"seconds", "digits", "arrows", "colours")
	for i, eye := range eyes {
		result := eyeResult{Name: eye.name}
		for _, seed := range c.seeds {
			m, err := c.trainEye(ctx, &result, eye.seen, r.Steps, seed)
			if err != nil {
				return fmt.Errorf("%s: %w", eye.name, err)
			}
			if i == 0 && seed == c.seeds[0] {
				if err := c.drawLooks(m, seed); err != nil {
					return err
				}
			}
		}
		r.Models = append(r.Models, result)
		c.printEye(result)
	}
	c.printLooks(r.Models[0])
	fmt.Fprint(c.out, c.examples.String())
	return nil
}

// trainEye trains a model from one seed and adds its results.
func (c *comparison) trainEye(ctx context.Context, r *eyeResult, seen mask.Mask, steps int, seed int64,
) (*layers.ViT, error) {
	m, err := newEye(seed)
	if err != nil {
		return nil, err
	}
	r.Parameters = m.Params().Count()
	t := trial{steps: steps, rate: pictureRate, seed: seed, bar: term.NewProgress(c.out, steps),
		loss: func(b *layers.Build) (*G.Node, error) {
			return m.Loss(b, pixelsNode(b, pictureBatch), b.InputOf(tensor.Int, answersInput, pictureBatch, tiles), seen)
		}}
	loss, seconds, err := t.run(ctx, m.Params(), newTileBatch(pictureBatch, streamed(seed, trainStream)))
	if err != nil {
		return nil, err
	}
	r.Loss, r.Seconds = append(r.Loss, loss), append(r.Seconds, seconds)
	return m, r.examine(ctx, m, seen, seed)
}

func pixelsNode(b *layers.Build, size int) *G.Node {
	return b.Input(pixelsInput, size, width, width, 3)
}

// examine counts right answers and looks on new pictures.
func (r *eyeResult) examine(ctx context.Context, m *layers.ViT, seen mask.Mask, seed int64) error {
	b := layers.NewBuild(m.Params(), layers.Eval)
	pixels := pixelsNode(b, pictureBatch)
	b.Observe("*")
	chosen := b.Of(graph.ArgMax(b.Of(m.Forward(b, pixels, seen)), graph.ReduceConfig{Dim: []int{-1}})) // (B, tiles)
	wanted := G.Nodes{chosen}
	for _, call := range b.Calls("*") {
		weights := b.Of(call.Weights()) // (B, H, tiles, tiles)
		wanted = append(wanted, b.Of(graph.ArgMax(weights, graph.ReduceConfig{Dim: []int{-1}})))
	}
	if b.Err() != nil {
		return b.Err()
	}
	vm, err := machine.New(wanted...)
	if err != nil {
		return err
	}
	var count tally
	source := newTileBatch(pictureBatch, streamed(seed, testStream))
	for range testPictures / pictureBatch {
		batch, err := source.Next()
		if err == nil {
			err = G.Let(pixels, batch.Inputs[pixelsInput])
		}
		if err == nil {
			err = vm.Run(ctx)
		}
		if err != nil {
			return err
		}
		values := make([][]int, len(wanted))
		for i, n := range wanted {
			values[i] = n.Value().(*tensor.Dense).Ints()
		}
		count.add(source, values[0], values[1:])
	}
	r.Digits = append(r.Digits, count.share(digitTile, count.right[digitTile]))
	r.Arrows = append(r.Arrows, count.share(arrowTile, count.right[arrowTile]))
	r.Colours = append(r.Colours, count.share(colourTile, count.right[colourTile]))
	if seen == nil {
		r.Looks = append(r.Looks, count.looks())
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

func (t *tally) share(k kind, n int) float64 { return float64(n) / float64(t.asked[k]) }

func (t *tally) looks() (all []headLook) {
	for block, heads := range t.looked {
		for h, n := range heads {
			all = append(all, headLook{Block: block + 1, Head: h + 1, Arrows: t.share(arrowTile, n[arrowTile]),
				Colours: t.share(colourTile, n[colourTile])})
		}
	}
	return all
}

// weightsOfPicture returns the attention weights (H, tiles, tiles) of each block for a picture.
func weightsOfPicture(m *layers.ViT, b *tileBatch) (blocks [][]float64, answers []int, err error) {
	g := layers.NewBuild(m.Params(), layers.Eval)
	pixels := pixelsNode(g, 1)
	g.Observe("*")
	wanted := G.Nodes{g.Of(graph.ArgMax(g.Of(m.Forward(g, pixels, nil)), graph.ReduceConfig{Dim: []int{-1}}))}
	for _, call := range g.Calls("*") {
		wanted = append(wanted, g.Of(call.Weights()))
	}
	if g.Err() != nil {
		return nil, nil, g.Err()
	}
	vm, err := machine.New(wanted...)
	if err == nil {
		err = G.Let(pixels, b.batch.Inputs[pixelsInput])
	}
	if err == nil {
		err = vm.RunAll()
	}
	if err != nil {
		return nil, nil, err
	}
	for _, n := range wanted[1:] {
		blocks = append(blocks, tensorprint.Float64s(n.Value().(*tensor.Dense)))
	}
	return blocks, wanted[0].Value().(*tensor.Dense).Ints(), nil
}
