package sketch_test

import (
	"bytes"
	"image/png"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/sketch"
)

// What drawing costs, as a ratio to encoding the same picture as PNG: at most 2 is promised.
func BenchmarkDraw(b *testing.B) {
	for name, r := range map[string]provider.Request{
		"hills 1024x1024":   ask("hills", 1024, 1024),
		"flowers 1024x1024": ask("red flowers", 1024, 1024),
		"bubbles 1024x1024": ask("bubbles", 1024, 1024),
		"city 3840x2160":    ask("the city at night", 3840, 2160),
		"space 3840x2160":   ask("a planet", 3840, 2160),
	} {
		b.Run(name, func(b *testing.B) {
			drawn, encoded := time.Hour, time.Hour // the best of all
			for b.Loop() {
				start := time.Now()
				m, err := sketch.Draw(r)
				drawn = min(drawn, time.Since(start))
				if err != nil {
					b.Fatal(err)
				}
				start = time.Now()
				if err := png.Encode(new(bytes.Buffer), m); err != nil {
					b.Fatal(err)
				}
				encoded = min(encoded, time.Since(start))
			}
			b.ReportMetric(float64(drawn)/float64(encoded), "draw/encode")
			b.ReportMetric(float64(drawn.Microseconds())/1000, "draw-ms")
		})
	}
}

func BenchmarkWebP(b *testing.B) {
	r := ask("the city at night", 1024, 1024)
	r.Format = provider.WebP
	b.ReportAllocs()
	for b.Loop() {
		generate(b, r)
	}
}
