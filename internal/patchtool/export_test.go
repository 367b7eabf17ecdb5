package patchtool

// Narrow is what tests see of how the roots of a call are found.
var Narrow = narrow
