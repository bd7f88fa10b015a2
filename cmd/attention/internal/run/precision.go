package run

import (
	"fmt"
	"strings"

	"attention/graph"

	"gorgonia.org/tensor"
)

// CheckPrecision returns an error of --precision if products of a type cannot or should not be computed in it.
func CheckPrecision(p graph.Precision, dt tensor.Dtype) error {
	if err := p.Check(dt); err != nil {
		return fmt.Errorf("--%s", strings.TrimPrefix(err.Error(), "graph: "))
	}
	return nil
}
