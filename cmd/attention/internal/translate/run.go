package translate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// translation is one run of attention translate.
type translation struct {
	alphabets
	options  options
	params   *layers.Params
	model    *layers.Seq2Seq
	training *randomPairs
	heldOut  *listedPairs
	loop     *train.Loop
	history  run.History
	progress *term.Progress
	out      *term.Output
}

// translateDates runs attention translate.
func translateDates(ctx context.Context, w io.Writer, o options) error {
	r, err := newTranslation(w, o)
	if err == nil {
		err = r.run(ctx)
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("translate: %w", err)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = term.Interrupted(err)
	}
	return err
}

func newTranslation(w io.Writer, o options) (*translation, error) {
	r := &translation{options: o, params: layers.NewParams(tensor.Float32, o.seed),
		progress: term.NewProgress(w, o.steps), out: term.NewOutput(w, "train")}
	var err error
	if r.alphabets, err = newAlphabets(); err != nil {
		return nil, err
	}
	if r.model, err = layers.NewSeq2Seq(r.params.Scope(""), o.modelConfig(r.alphabets)); err != nil {
		return nil, err
	}
	training, heldOut := splitDates(o.seed)
	random := rand.New(rand.NewPCG(uint64(o.seed), 1))
	r.training = &randomPairs{training, random, newPairBatch(r.alphabets, o.batch)}
	r.heldOut = &listedPairs{pairs: inEveryStyle(heldOut), out: newPairBatch(r.alphabets, o.batch)}
	c := o.trainConfig()
	c.OnStep, c.OnEval = r.onStep, r.onEval
	r.loop, err = train.New(r.params, r.loss, c)
	return r, err
}

// drawnPair is the index of the held-out date in --out's picture. It has a day of the
// week, which the translation does not need.
const drawnPair = 2

// run trains, then translates the held-out dates.
func (r *translation) run(ctx context.Context) error {
	r.printHead()
	began := time.Now()
	err := r.loop.Run(ctx, r.training, r.heldOut)
	r.progress.Clear()
	if err != nil {
		return err
	}
	trained := time.Since(began)
	t, err := r.newTranslator()
	if err != nil {
		return err
	}
	began = time.Now()
	got, err := t.translateAll(ctx, r.heldOut)
	if err != nil {
		return err
	}
	r.printVerdict(got, trained, time.Since(began))
	if r.options.out != "" {
		if err := r.writeCross(datePair{r.heldOut.pairs[drawnPair].written, got[drawnPair]}); err != nil {
			return err
		}
	}
	return r.out.Err()
}

// inputs makes the model's inputs in a graph.
func (r *translation) inputs(b *layers.Build) (source, lengths, target *G.Node) {
	n := r.options.batch
	return b.InputOf(tensor.Int, sourceInput, n, writtenLength),
		b.InputOf(tensor.Int, lengthsInput, n),
		b.InputOf(tensor.Int, targetInput, n, isoLength)
}

// loss returns the mean cross entropy of the characters of the ISO dates.
func (r *translation) loss(b *layers.Build) (*G.Node, error) {
	source, lengths, target := r.inputs(b)
	targets := b.InputOf(tensor.Int, targetsInput, r.options.batch, isoLength)
	return b.Of(r.model.Loss(b, source, target, lengths, targets)), b.Err()
}

func (r *translation) onStep(s train.StepResult) {
	r.history.Steps = append(r.history.Steps, s)
	r.progress.Step(s.Loss)
}

func (r *translation) onEval(e train.Evaluation) {
	r.progress.Clear()
	loss, _ := r.history.Recent()
	if e.Step <= evalSteps {
		fmt.Fprintf(r.out, "%6s  %8s  %8s\n", "step", "training", "held out")
	}
	fmt.Fprintf(r.out, "%6d  %8.4f  %8.4f\n", e.Step, loss, e.Loss)
}
