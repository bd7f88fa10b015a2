// Package config reads configs from JSON and words the errors about their fields.
//
// A config is a struct with JSON tags and a Validate method. Its values may come from a Go program, a JSON file or a
// command line, and each of these has another name for a field. Validate writes one error for all three: Error uses
// Go's field names, JSON the keys of the file, and Named the names of a command.
package config
