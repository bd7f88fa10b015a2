package settings

import (
	"attention/layers"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/text"
)

// defaults returns the default values of a run with a model and a schedule of these types. Values that depend on others
// are 0, and the name of the built-in text is empty: fill sets them.
func defaults(model, schedule string) Config {
	c := Config{
		Format:     Format,
		Vocabulary: text.TokenizerConfig{Name: text.Characters},
		Dtype:      "float32",
		Precision:  "full",
		Order:      text.RandomOrder,
		Training: loop.Config{Steps: 2000, EvalEvery: 200, StepConfig: train.StepConfig{
			Accumulate: 1,
			Solver:     train.SolverConfig{Name: train.AdamW, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: train.DecayMatrices},
			Schedule:   train.ScheduleConfig{Schedule: train.CosineLR{}},
			ClipNorm:   1,
			Seed:       1,
		}},
		Checkpoints: checkpoint.Config{Every: 500, Keep: 2},
		Sample:      SampleConfig{Tokens: 300},
	}
	switch schedule {
	case constantSchedule:
		c.Training.Schedule = train.ConstantRate(0)
	case wsdSchedule:
		c.Training.Schedule.Schedule = train.WSD{}
	}
	gpt := layers.GPT2Defaults()
	gpt.EmbedDim, gpt.NumLayers, gpt.NumHeads, gpt.Eps = 64, 4, 4, 1e-5
	switch model {
	case GPTModel:
		c.Model.GPT = &gpt
	case DecoderModel:
		gpt.Bias, gpt.TieWordEmbeddings = false, false // missing fields in JSON are false
		c.Model.Decoder = new(Parts{RoPE: true, Norm: layers.RMSNorm, MLP: layers.SwiGLU}.of(gpt))
	default:
		c.Model.Layer = &chapter.LanguageModelConfig{
			EmbedDim: 64, Attention: chapter.Config{Layer: "multi_head", NumHeads: 4}}
	}
	return c
}

// defaultsOf returns the default values of a run of a command: for attention train, one with a model and a schedule of
// these types.
func defaultsOf(command, model, schedule string) Config {
	switch command {
	case Finetune:
		return tuningDefaults()
	case Translate:
		return datesDefaults()
	}
	return defaults(model, schedule)
}

// tuningDefaults returns the default values of a run of attention finetune. Those that depend on other values are 0.
func tuningDefaults() Config {
	c := defaults("", cosineSchedule)
	return Config{Format: Format, Precision: c.Precision, Batch: 4, Order: c.Order,
		Training:    loop.Config{StepConfig: c.Training.StepConfig},
		Checkpoints: checkpoint.Config{Every: 100, Keep: 2}, Sample: SampleConfig{Tokens: 48},
		Tuning: &Tuning{Long: text.CutLong, LoRA: &layers.LoRAConfig{Rank: 8}}}
}

// Defaults of batch and context. A causal layer learns from every position of a window, others only from the token
// after it, so they need many windows per step.
const (
	causalContext, causalBatch = 64, 16
	wholeContext, wholeBatch   = 8, 128
)

// Defaults of the learning rate.
const (
	adamRate = 0.005
	gptRate  = 0.001 // adam's for a GPT or another decoder
	sgdRate  = 1     // steps of SGD are as small as its gradients
)

// fill sets the defaults that depend on other values. given reports whether the value at a path was given, and epochs
// is the number of steps of all epochs, if the run has epochs.
func (c *Config) fill(epochs int, given func(path string) bool) {
	context, batch := wholeContext, wholeBatch
	if c.Model.Causal() {
		context, batch = causalContext, causalBatch
	}
	fillIn(&c.Text.Name, BuiltinName, given("text.name"))
	fillIn(&c.Batch, batch, given("batch"))
	if c.Epochs > 0 {
		fillIn(&c.Training.Steps, epochs, given("training.steps"))
	}
	if m := c.Model.GPT; m != nil {
		fillIn(&m.ContextLength, context, given("model.context_length"))
	}
	if m := c.Model.Decoder; m != nil {
		fillIn(&m.ContextLength, context, given("model.context_length"))
	}
	if m := c.Model.Layer; m != nil {
		fillIn(&m.ContextLength, context, given("model.context_length"))
		fillVariant(m, given)
	}
	solver, usual := &c.Training.Solver, defaults(LayerModel, cosineSchedule).Training.Solver
	fillIn(&solver.Decay, usual.Decay, given("training.solver.decay"))
	if solver.Name != train.SGD {
		fillIn(&solver.Beta1, usual.Beta1, given("training.solver.beta1"))
		fillIn(&solver.Beta2, usual.Beta2, given("training.solver.beta2"))
		fillIn(&solver.Eps, usual.Eps, given("training.solver.eps"))
	}
	if solver.Name == train.Muon {
		fillIn(&solver.Momentum, 0.95, given("training.solver.momentum"))
		fillIn(&solver.AdjustLR, train.MatchRMSAdamW, given("training.solver.adjust_lr"))
		fillIn(&solver.Groups, c.Model.besideMuon(), given("training.solver.groups"))
	}
	c.fillSchedule(given)
}

func (c *Config) fillSchedule(given func(path string) bool) {
	rate := adamRate
	switch {
	case c.Training.Solver.Name == train.SGD:
		rate = sgdRate
	case c.Model.Layer == nil:
		rate = gptRate
	}
	switch s := c.Training.Schedule.Schedule.(type) {
	case train.CosineLR:
		fillIn(&s.Peak, rate, given("training.schedule.peak"))
		fillIn(&s.Floor, s.Peak/10, given("training.schedule.floor"))
		fillIn(&s.Steps, c.Training.Steps, given("training.schedule.steps"))
		fillIn(&s.WarmupSteps, max(min(s.Steps/20, 100), 0), given("training.schedule.warmup_steps"))
		c.Training.Schedule.Schedule = s
	case train.WSD:
		steps := max(c.Training.Steps, 1)
		fillIn(&s.Peak, rate, given("training.schedule.peak"))
		fillIn(&s.WarmupSteps, min(steps/20, 100), given("training.schedule.warmup_steps"))
		fillIn(&s.DecaySteps, (steps+1)/2, given("training.schedule.decay_steps"))
		fillIn(&s.StableSteps, max(steps-s.WarmupSteps-s.DecaySteps, 0), given("training.schedule.stable_steps"))
		c.Training.Schedule.Schedule = s
	case nil:
	default: // one rate for all steps
		if !given("training.schedule.rate") {
			c.Training.Schedule = train.ConstantRate(rate)
		}
	}
}

// besideMuon returns the groups of the embeddings and the head, which AdamW updates.
func (c ModelConfig) besideMuon() (groups []train.ParamGroup) {
	names := []string{"tokens", "positions", "output"}
	if d, ok := c.Blocks(); ok {
		names = []string{"embed_*"}
		if d.Layout == layers.GPT2 {
			names = []string{"w[tp]e"}
		}
		if !d.TieWordEmbeddings {
			names = append(names, "lm_head")
		}
	}
	for _, name := range names {
		groups = append(groups, train.ParamGroup{Params: name, Solver: train.AdamW})
	}
	return groups
}

// fillVariant sets the sizes of a model's attention layer and clears those the layer does not have.
func fillVariant(m *chapter.LanguageModelConfig, given func(path string) bool) {
	a := &m.Attention
	size := func(value *int, usual int, key, field string) {
		fillIn(value, usual, given("model.attention."+key))
		if !a.Uses(field) {
			*value = 0
		}
	}
	out := m.EmbedDim
	if a.Layer == "multi_head_wrapper" && a.NumHeads > 0 {
		out /= a.NumHeads // of one head
	}
	size(&a.EmbedDim, m.EmbedDim, "embed_dim", "EmbedDim")
	size(&a.OutDim, out, "out_dim", "OutDim")
	size(&a.ContextLength, m.ContextLength, "context_length", "ContextLength")
	size(&a.NumHeads, a.NumHeads, "num_heads", "NumHeads")
	size(&a.QueryDim, m.EmbedDim, "query_dim", "QueryDim")
	size(&a.KeyDim, m.EmbedDim, "key_dim", "KeyDim")
	size(&a.AttnDim, m.EmbedDim, "attn_dim", "AttnDim")
	a.QKVBias = a.QKVBias && a.Uses("QKVBias")
}

// fillIn sets a value unless it is given.
func fillIn[T any](value *T, usual T, given bool) {
	if !given {
		*value = usual
	}
}
