package train

import (
	"cmp"
	"fmt"

	"attention/internal/config"
)

// Names of solvers, for SolverConfig.Name.
const (
	SGD   = "sgd"
	Adam  = "adam"
	AdamW = "adamw"
	Muon  = "muon"
)

// MatchRMSAdamW is the AdjustLR that makes Muon's updates as large as AdamW's.
const MatchRMSAdamW = "match_rms_adamw"

// SolverConfig selects a solver and its constants; the learning rate is an argument of each step. The zero value is
// AdamW with PyTorch's betas and eps and no decay.
type SolverConfig struct {
	// Name is SGD, Adam, AdamW or Muon; "" means AdamW. Muon updates parameters of two axes; all others, and those of
	// groups with Solver AdamW, are updated by AdamW. Use such groups for embeddings and the head, since Muon is for
	// hidden layers.
	Name string `json:"name"`
	// Momentum is the momentum of SGD, in [0, 1); 0 means none. For Muon it is Nesterov's momentum, and 0 means 0.95. Adam
	// and AdamW do not use it.
	Momentum float64 `json:"momentum,omitempty"`
	// AdjustLR selects how the shape (m, n) of a matrix changes Muon's learning rate: "" multiplies it by √max(1, m/n),
	// MatchRMSAdamW by 0.2·√max(m, n) (torch.optim.Muon's adjust_lr_fn).
	AdjustLR string `json:"adjust_lr,omitempty"`
	// Nesterov selects Nesterov's form of Muon's momentum; nil means true. Without it the update is the momentum itself.
	Nesterov *bool `json:"nesterov,omitempty"`
	// NSSteps is the number of steps of Muon's Newton–Schulz iteration, which brings singular values near 1; 0 means 5.
	NSSteps int `json:"ns_steps,omitempty"`
	// Beta1 and Beta2 are the decay rates of Adam's and AdamW's running averages of the gradient and of its square, in
	// (0, 1); 0 means 0.9 and 0.999. With Muon these fields and Eps are used by the AdamW for the other parameters.
	Beta1 float64 `json:"beta1,omitempty"`
	Beta2 float64 `json:"beta2,omitempty"`
	// Eps keeps Adam and AdamW from dividing by 0; 0 means 1e-8.
	Eps float64 `json:"eps,omitempty"`
	// WeightDecay is λ: SGD and Adam add λ·value to the gradient; AdamW and Muon subtract lr·λ·value from the value. 0
	// means none, also for AdamW and Muon, for which PyTorch's defaults are 0.01 and 0.1.
	WeightDecay float64 `json:"weight_decay,omitempty"`
	// Decay selects the parameters that WeightDecay applies to; 0 means DecayAll.
	Decay Decay `json:"decay"`
	// Groups are parameters with their own learning rate, weight decay or solver. Each parameter is in at most one group.
	Groups []ParamGroup `json:"groups,omitempty"`
}

// Validate returns an error that names the first wrong field.
func (c SolverConfig) Validate() error {
	c = c.resolved()
	return cmp.Or(config.OneOf(c, "Name", c.Name, SGD, Adam, AdamW, Muon), config.AtLeast(c, 0, "WeightDecay", "Eps"),
		config.In(c, "Decay", decays.Validate(c.Decay)), config.Probability(c, "Momentum", "Beta1", "Beta2"),
		config.Check(c, solverRules), c.validateMuon(), c.validateGroups())
}

// solverRules lists the constants that a solver does not use.
var solverRules = []config.Rule{
	{Settings: "AdjustLR Nesterov NSSteps", Need: "Name=muon"},
	{Settings: "Momentum", Exclude: "Name=adam", Why: "only sgd and muon have it"},
	{Settings: "Momentum", Exclude: "Name=adamw", Why: "only sgd and muon have it"},
	{Settings: "Beta1 Beta2 Eps", Exclude: "Name=sgd", Why: "only adam, adamw and muon have it"},
}

// validateMuon returns an error for constants that Muon does not accept.
func (c SolverConfig) validateMuon() error {
	if c.Name != Muon {
		return nil
	}
	return cmp.Or(config.OneOf(c, "AdjustLR", cmp.Or(c.AdjustLR, MatchRMSAdamW), MatchRMSAdamW),
		config.AtLeast(c, 1, "NSSteps"), config.AtMost(c, 99, "NSSteps")) // as for torch.optim.Muon
}

// resolved replaces zeros by their defaults.
func (c SolverConfig) resolved() SolverConfig {
	c.Name = cmp.Or(c.Name, AdamW)
	if c.Name == SGD {
		return c
	}
	if c.Name == Muon {
		c.Momentum, c.NSSteps = cmp.Or(c.Momentum, 0.95), cmp.Or(c.NSSteps, 5)
	}
	c.Beta1, c.Beta2, c.Eps = cmp.Or(c.Beta1, 0.9), cmp.Or(c.Beta2, 0.999), cmp.Or(c.Eps, 1e-8)
	return c
}

// String prints the config with its defaults filled in, for example "adamw(beta1=0.9 beta2=0.999 eps=1e-08
// weight_decay=0.1 of matrices)".
func (c SolverConfig) String() string {
	c = c.resolved()
	text := ""
	add := func(shown bool, name string, v any) {
		if shown {
			text += fmt.Sprintf("%s=%v ", name, v)
		}
	}
	add(c.Name == SGD || c.Name == Muon, "momentum", c.Momentum)
	add(c.AdjustLR != "", "adjust_lr", c.AdjustLR)
	add(c.Nesterov != nil, "nesterov", c.Nesterov == nil || *c.Nesterov)
	add(c.NSSteps != 0, "ns_steps", c.NSSteps)
	add(c.Name != SGD, "beta1", c.Beta1)
	add(c.Name != SGD, "beta2", c.Beta2)
	add(c.Name != SGD, "eps", c.Eps)
	text += fmt.Sprintf("weight_decay=%v of %v", c.WeightDecay, c.Decay)
	for _, g := range c.Groups {
		text += "; " + g.String()
	}
	return c.Name + "(" + text + ")"
}

// Decay selects the parameters that weight decay applies to.
type Decay int

const (
	// DecayAll decays every parameter, as PyTorch does without parameter groups.
	DecayAll Decay = iota
	// DecayMatrices decays parameters of two or more axes (projection matrices, embeddings) and leaves biases and
	// norm gains alone, as nanoGPT does.
	DecayMatrices
)

var decays = config.Enum[Decay]{Name: "Decay", Words: []string{"all", "matrices"}}

// String returns "all" or "matrices".
func (d Decay) String() string { return decays.String(d) }

// MarshalText returns the text of String.
func (d Decay) MarshalText() ([]byte, error) { return decays.MarshalText(d) }

// UnmarshalText reads the text of MarshalText.
func (d *Decay) UnmarshalText(text []byte) error { return decays.UnmarshalText(d, text) }
