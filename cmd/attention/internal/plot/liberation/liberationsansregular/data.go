// Package liberationsansregular has the font Liberation Sans.
package liberationsansregular

import _ "embed"

// TTF is the font.
//
//go:embed LiberationSans-Regular.ttf
var TTF []byte
