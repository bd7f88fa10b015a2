package machine

import (
	"fmt"
	"reflect"
	"unsafe"

	G "gorgonia.org/gorgonia"
)

// Gorgonia does not export the ops of statements and constants, the value that a node is bound to, or an op's mode. A
// test pins the behaviour that the following code relies on.

// readsInto returns the variable to which a node made by gorgonia.Read copies the value.
func readsInto(n *G.Node) (into *G.Value, ok bool) {
	if fmt.Sprintf("%T", n.Op()) != "gorgonia.readOp" {
		return nil, false
	}
	return (*G.Value)(reflect.ValueOf(n.Op()).Field(0).UnsafePointer()), true
}

// isStatement reports whether a node was made by gorgonia.Read or gorgonia.Set and has no value.
func isStatement(n *G.Node) bool {
	switch fmt.Sprintf("%T", n.Op()) {
	case "gorgonia.readOp", "gorgonia.letOp":
		return true
	}
	return false
}

func isConstant(n *G.Node) bool {
	switch fmt.Sprintf("%T", n.Op()) {
	case "gorgonia.constantScalar", "gorgonia.constantTensor":
		return true
	}
	return false
}

// isStray reports whether a node is a gradient that an op made together with others and that nobody requested, for
// example of an input that is not trained. Grad marks gradients, and it marks requested gradients with the nodes that
// they belong to.
func isStray(n *G.Node) bool { return isGradient(n) && len(n.DerivOf()) == 0 }

// isGradient reports whether Grad made a node.
func isGradient(n *G.Node) bool {
	return reflect.ValueOf(n).Elem().FieldByName("group").String() == "gradients"
}

// bind binds a node to a value, or to no value, which gorgonia.UnsafeLet cannot do.
func bind(n *G.Node, v G.Value) { *boundTo(n) = v }

func boundTo(n *G.Node) *G.Value {
	f := reflect.ValueOf(n).Elem().FieldByName("boundTo")
	return (*G.Value)(unsafe.Pointer(f.UnsafeAddr()))
}

// dualType is the type of a value that is stored together with its gradient; Gorgonia's solvers use it.
var dualType = func() reflect.Type {
	f, _ := reflect.TypeFor[G.AdamSolver]().FieldByName("cache")
	return f.Type.Elem().Elem()
}()

// bindGradient stores a gradient beside a variable's value; Grad returns it.
func bindGradient(x *G.Node, d G.Value) {
	dual := reflect.ValueOf(*boundTo(x))
	if !dual.IsValid() || dual.Type() != reflect.PointerTo(dualType) {
		dual = reflect.New(dualType)
		if v := x.Value(); v != nil {
			dual.Elem().FieldByName("Value").Set(reflect.ValueOf(v))
		}
		bind(x, dual.Interface().(G.Value))
	}
	*(*G.Value)(unsafe.Pointer(dual.Elem().FieldByName("d").UnsafeAddr())) = d
}

// modeOf returns the field in which one of Gorgonia's ops stores whether it is in training, or nil.
func modeOf(op any) *bool {
	v := reflect.Indirect(reflect.ValueOf(op))
	if v.Kind() != reflect.Struct {
		return nil
	}
	for _, name := range []string{"training", "isTraining"} {
		if f := v.FieldByName(name); f.Kind() == reflect.Bool && f.CanAddr() {
			return (*bool)(unsafe.Pointer(f.UnsafeAddr()))
		}
	}
	return nil
}
