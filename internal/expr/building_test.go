package expr_test

import (
	"errors"
	"sync"
	"testing"

	"attention/internal/expr"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The race detector reports what graphs share: without Building, two concurrent gradients are a race.
func TestBuildingIsDoneByOneAtATime(t *testing.T) {
	var running sync.WaitGroup
	at := 0 // number of builds in progress
	for range 4 {
		running.Go(func() {
			for range 20 {
				if err := expr.Building(func() error {
					at++
					defer func() { at-- }()
					if at != 1 {
						return errors.New("two at once")
					}
					x := G.NewVector(G.NewGraph(), tensor.Float32, G.WithShape(3), G.WithName("x"))
					_, err := G.Grad(G.Must(G.Sum(G.Must(G.Sigmoid(x)))), x)
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
}

func TestBuildingEndsWithAnErrorOrAPanic(t *testing.T) {
	failed := errors.New("failed")
	require.Equal(t, failed, expr.Building(func() error { return failed }))
	require.Panics(t, func() { _ = expr.Building(func() error { panic("in the midst of a build") }) })
	require.NoError(t, expr.Building(func() error { return nil }))
}

// A build inside a build, however deep, is an error, because it would wait for itself. The outer build continues.
func TestBuildingWithinBuilding(t *testing.T) {
	require.NoError(t, expr.Building(func() error {
		var inner func(depth int) error
		inner = func(depth int) error {
			if depth > 0 {
				return inner(depth - 1)
			}
			return expr.Building(func() error { return nil })
		}
		require.EqualError(t, inner(100),
			"got a call within a formula, want formulas to build nodes alone: call functions and steps outside")
		return nil
	}))
}
