package toolkit

import (
	"os"
	"runtime/debug"
)

// softMemory is from where on garbage is collected more eagerly, in bytes. Decoding a large
// message makes twelve times as much garbage as it has bytes.
const softMemory = 512 << 20

// boundMemory sets softMemory, unless the environment says otherwise.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
}

// collectLater lets the garbage of a call lie until there is five times as much as what is
// in use, or softMemory: a server for one client holds little, and a large call would else
// be stopped for collections again and again.
func collectLater() {
	boundMemory()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
