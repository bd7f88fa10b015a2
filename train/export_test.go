package train

// WriteSealed makes files that are whole and yet no checkpoints.
var WriteSealed = writeSealed
