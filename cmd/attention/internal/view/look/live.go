package look

import (
	"context"

	"attention/cmd/attention/internal/run"
)

// Of returns a model that is open. Its weights are those after some steps of a run.
func Of(name string, m *run.OpenModel, steps int) *Model {
	n := language{m}
	of := newModel(name, n, func() (network, error) { return n, nil })
	of.Notes, of.Steps = m.Notes, steps
	return of
}

// Live returns the model of a run that trains. Each look is at the model that now returns, with the weights of that
// moment.
func Live(name string, m run.Model, now func(ctx context.Context) (*Model, error)) *Model {
	return &Model{Name: name, Title: m.String(), Most: m.Context(), IsLive: true, now: now}
}

// Now returns the model with the weights of this moment, which do not change any more.
func (m *Model) Now(ctx context.Context) (*Model, error) {
	if m.now == nil {
		return m, nil
	}
	return m.now(ctx)
}
