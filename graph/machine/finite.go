package machine

import (
	"math"

	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
)

// verdict says which kinds of non-finite numbers a value has.
type verdict struct{ nan, inf bool }

// masker is an op that may fill its result with infinities on purpose.
type masker interface{ FillsInfinity() bool }

// FindNotFinite runs the machine on the inputs' current values and returns the first node that produced a NaN or an
// infinity, or nil. A node whose input has one does not count, nor does an op that fills in infinities to hide scores,
// nor a constant.
func (m *Machine) FindNotFinite() (*G.Node, error) {
	if err := m.open(); err != nil {
		return nil, err
	}
	if m.isStale() {
		m.plan()
	}
	m.ran = false
	back, err := m.setMode()
	if err != nil {
		return nil, err
	}
	defer back()
	if err := m.readInputs(); err != nil {
		return nil, err
	}
	for i := range m.steps {
		s := &m.steps[i]
		if s.op != nil {
			if err := m.run(s); err != nil {
				return nil, err
			}
		}
		s.verdict = judge(s.value) // now, since a later step may reuse its memory
		before := verdict{}
		for _, j := range s.inputs {
			before.nan = before.nan || m.steps[j].verdict.nan
			before.inf = before.inf || m.steps[j].verdict.inf
		}
		op, ok := s.op.(masker)
		meant := ok && op.FillsInfinity() || isConstant(s.node)
		if s.verdict.nan && !before.nan || s.verdict.inf && !before.inf && !meant {
			return s.node, nil
		}
	}
	return nil, nil
}

func judge(value G.Value) (v verdict) {
	for _, f := range dense.Float64s(value) {
		v.nan = v.nan || math.IsNaN(f)
		v.inf = v.inf || math.IsInf(f, 0)
	}
	return v
}
