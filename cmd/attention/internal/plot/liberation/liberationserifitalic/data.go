// Package liberationserifitalic stands for a font that no picture has.
package liberationserifitalic

import "codeberg.org/go-fonts/liberation/liberationsansregular"

// TTF is Liberation Sans.
var TTF = liberationsansregular.TTF
