package imagetool

// AppWith is App with another provider than the flags say.
var AppWith = app
