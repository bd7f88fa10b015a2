// Package config reads configs from JSON and words the errors about their fields.
//
// A config is a struct with JSON tags and a Validate method. Its user may be a Go
// program, a JSON file or a command line, and each has another name for a field.
// Validate writes one error for all three: Error names Go's fields, JSON the keys of
// the file, and Named whatever a command calls them.
package config
