package train

// Step is what one training step showed.
type Step struct {
	N               int     // number of the step, counted from 0
	Loss            float64 // mean over the batch's tokens, before the update; nats for a cross-entropy
	LearningRate    float64
	GradNorm        float64 // of all gradients together, before clipping
	TokensPerSecond float64
}
