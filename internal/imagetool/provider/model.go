package provider

// A Model is what may be asked of a model. The zero value has the rules that all share.
type Model struct {
	Name         string
	Known        bool     // it is in the provider's table
	Qualities    []string // nil: any
	Formats      []Format // nil: any
	Sizes        []Size   // the only ones; nil: any within the bounds below
	Multiple     int      // of width and height; 0: any
	MaxEdge      Size     // the larger and the smaller edge at most; zero: any
	MaxRatio     int      // of the edges; 0: any
	MaxN         int      // 0: 10
	MaxPrompt    int      // characters; 0: 32000
	MaxImages    int      // inputs; 0: 16
	Partials     bool     // pictures on the way
	Transparent  bool     // a transparent background
	Fidelities   []string // of the input; empty: it takes none
	ForeignOwned bool     // takes fields that the Images API does not have: seed, negative prompt
}
