// Package liberationsansbold stands for a font that no picture has.
package liberationsansbold

import "codeberg.org/go-fonts/liberation/liberationsansregular"

// TTF is Liberation Sans.
var TTF = liberationsansregular.TTF
