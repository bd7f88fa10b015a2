package expr

import (
	"fmt"
	"strings"

	G "gorgonia.org/gorgonia"
)

// InputName returns the name of an input for an error: in quotes, or its type and shape if it has none.
func InputName(n *G.Node) string {
	if HasName(n) {
		return fmt.Sprintf("%q", n.Name())
	}
	if n.Type() == nil {
		return "without a name and a type"
	}
	return fmt.Sprintf("of %v %v without a name", n.Dtype(), n.Shape())
}

// HasName reports whether an input has a name. Gorgonia's Name prints the op of a node that has none.
func HasName(n *G.Node) bool { return !strings.HasPrefix(n.Name(), "%!s(<nil>)") }
