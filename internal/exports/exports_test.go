package exports_test

import (
	"os"
	"path/filepath"
	"testing"

	"attention/internal/exports"

	"github.com/stretchr/testify/require"
)

func TestFuncs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, source string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(source), 0o600))
	}
	write("ops.go", `package p
import gorgonia "gorgonia.org/gorgonia"
func One(x *gorgonia.Node) (*gorgonia.Node, error) { return x, nil }
func Two(x *gorgonia.Node) (out, weights *gorgonia.Node, err error) { return x, x, nil }
func Many() (gorgonia.Nodes, error) { return nil, nil }
func Other(x *gorgonia.Node) error { return nil }
func hidden(x *gorgonia.Node) *gorgonia.Node { return x }
func Generic[T any](x T) *gorgonia.Node { return nil }
`)
	write("plain.go", `package p
import "gorgonia.org/gorgonia"
type Layer struct{}
type Value struct{}
type Pair[T any] struct{}
type Two[T, U any] struct{}
type (
	inner struct{}
)
type Same = inner
func Three() *gorgonia.Node { return nil }
func (*Layer) Forward() (*gorgonia.Node, error) { return nil, nil }
func (Value) Forward() (*gorgonia.Node, error) { return nil, nil }
func (*Pair[T]) Forward() []int { return nil }
func (*Two[T, U]) Forward() {}
func (inner) Forward() (*gorgonia.Node, error) { return nil, nil }
func (*Layer) hidden() *gorgonia.Node { return nil }
`)
	write("ops_test.go", "package p\nfunc InTest() int { return 0 }\n")
	write("without.go", "package p\nfunc Without() { return }\n")
	got, err := exports.Funcs(dir)
	require.NoError(t, err)
	const node = "*gorgonia.Node"
	require.ElementsMatch(t, []exports.Func{
		{Name: "One", Results: []string{node, "error"}},
		{Name: "Two", Results: []string{node, node, "error"}},
		{Name: "Many", Results: []string{"gorgonia.Nodes", "error"}},
		{Name: "Other", Results: []string{"error"}},
		{Name: "Generic", Results: []string{node}},
		{Name: "Three", Results: []string{node}},
		{Name: "Without"},
		{Name: "Forward", Receiver: "Layer", Results: []string{node, "error"}},
		{Name: "Forward", Receiver: "Value", Results: []string{node, "error"}},
		{Name: "Forward", Receiver: "Pair", Results: []string{"[]int"}},
		{Name: "Forward", Receiver: "Two"},
	}, got)

	types, err := exports.Types(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"Layer", "Value", "Pair", "Two", "Same"}, types)

	write("broken.go", "package p\nfunc {")
	_, err = exports.Funcs(dir)
	require.ErrorContains(t, err, "broken.go:2:6: ")
}
