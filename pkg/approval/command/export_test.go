package command

// Caught is what Judge reads under.
var Caught = caught
