//go:build !race

package search_test

// raced is whether the race detector runs, which makes searching some ten times slower.
const raced = false
