package mask

import (
	"reflect"
	"unsafe"
)

// Equal reports whether two masks are of one kind, with equal settings and the same nodes and functions.
func Equal(a, b Mask) bool {
	switch x := a.(type) {
	case Func:
		y, ok := b.(Func)
		return ok && x.Name == y.Name && same(&x.Visible, &y.Visible) && same(&x.VisibleAt, &y.VisibleAt)
	case either:
		y, ok := b.(either)
		return ok && x.Or == y.Or && Equal(x.A, y.A) && Equal(x.B, y.B)
	case not:
		y, ok := b.(not)
		return ok && Equal(x.Of, y.Of)
	}
	return reflect.DeepEqual(a, b)
}

// same reports whether two functions are the same closure. Go does not compare functions.
func same[F any](a, b *F) bool {
	return *(*unsafe.Pointer)(unsafe.Pointer(a)) == *(*unsafe.Pointer)(unsafe.Pointer(b))
}
