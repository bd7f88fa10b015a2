//go:build !unix

package folder

// nonblock is for Unix, where the opening of a pipe may wait.
const nonblock = 0
