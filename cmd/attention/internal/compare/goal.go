package compare

import (
	"context"
	"fmt"
	"math/rand/v2"

	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/tasks/lookback"
	"attention/train/text"
)

// textSteps and taskSteps are the default numbers of training steps of each model.
const (
	textSteps = 400
	taskSteps = 1000
)

// goal is what the models should learn, with the sizes of the model with full attention and of its training.
type goal struct {
	title    string
	model    layers.GPTConfig
	batch    int
	steps    int
	rate     float64 // the highest learning rate of Muon
	level    string  // unit of the levels, in words; empty for a text
	examples func(seed int64) (train.Source, error)
	// examine returns the loss on new examples and, for a task, the shares of right answers at its levels.
	examine func(ctx context.Context, m *layers.Decoder, l *loop.Loop, seed int64) (float64, []lookback.Mark, error)
}

// ofText reads a text of which the models learn the next characters.
func ofText(path string) (g goal, err error) {
	content, err := settings.ReadText(path)
	if err != nil {
		return g, err
	}
	ids, tokenizer, err := text.TokenizerConfig{}.Encode(content)
	if err != nil {
		return g, err
	}
	g = goal{batch: 12, steps: textSteps, rate: 0.01, model: layers.GPTConfig{VocabSize: tokenizer.Len(),
		ContextLength: 128, EmbedDim: 128, NumLayers: 4, NumHeads: 4, DimFeedforward: 344, TieWordEmbeddings: true}}
	g.title = fmt.Sprintf("%s: the next of %d characters", path, tokenizer.Len())
	corpus, err := text.NewCorpus(ids, tokenizer, g.model.ContextLength)
	if err != nil {
		return g, err
	}
	sources := func(seed int64) (training train.Resumable, whole train.Source, err error) {
		training, _, whole, err = corpus.Sources(text.SourcesConfig{Windows: g.windows(), Seed: seed})
		return training, whole, err
	}
	g.examples = func(seed int64) (train.Source, error) {
		training, _, err := sources(seed)
		return training, err
	}
	g.examine = func(ctx context.Context, _ *layers.Decoder, l *loop.Loop, seed int64,
	) (float64, []lookback.Mark, error) {
		_, whole, err := sources(seed)
		if err != nil {
			return 0, nil, err
		}
		e, err := l.Evaluate(ctx, whole)
		return e.Loss, nil, err
	}
	return g, nil
}

// examined is how many new sequences of each level a model is asked.
const examined = 128

// ofTask returns the goal of a task.
func ofTask(t lookback.Task) goal {
	g := goal{batch: 32, steps: taskSteps, rate: 0.02, level: t.Level(),
		model: layers.GPTConfig{VocabSize: t.Vocabulary(), ContextLength: lookback.Context, EmbedDim: 64,
			NumLayers: 2, NumHeads: 2, DimFeedforward: 172, TieWordEmbeddings: true}}
	levels := t.Levels()
	g.title = fmt.Sprintf("%s, %d to %d %s", t, levels[0], levels[len(levels)-1], t.Level())
	g.examples = func(seed int64) (train.Source, error) {
		return lookback.New(t, g.batch, rand.New(rand.NewPCG(uint64(seed), 0)))
	}
	g.examine = func(ctx context.Context, m *layers.Decoder, _ *loop.Loop, seed int64,
	) (float64, []lookback.Mark, error) {
		s, err := lookback.New(t, examined, rand.New(rand.NewPCG(uint64(seed), 1)))
		if err != nil {
			return 0, nil, err
		}
		marks, err := s.Exam(ctx, m)
		loss := 0.0
		for _, m := range marks {
			loss += m.Loss / float64(len(marks))
		}
		return loss, marks, err
	}
	return g
}

// windows returns B and T.
func (g goal) windows() text.WindowConfig {
	return text.WindowConfig{Batch: g.batch, Context: g.model.ContextLength}
}
