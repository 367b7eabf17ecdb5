package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A chunk is hits that no other hit comes between in path order.
type chunk struct {
	key     string // path of the first hit; a directory's ends in a slash
	hits    []Hit
	rest    int // hits behind these that no page can show, only counted
	matches int // in the rest
}

// A page keeps of all hits those that may be on the page asked for. It is not safe for
// concurrent use.
type page struct {
	offset, limit int
	need          int // results that settle the page and whether one follows; 0 for all
	newest        bool
	early         bool // nothing behind the page is wanted, not even its number

	chunks []chunk // by key, unless newest
	weight int     // results in chunks
	cutoff string  // what comes after cannot be on the page; "" while that is unknown

	hits, results, matches int  // all that were added
	partial                bool // something was left out uncounted
}

// most is more results than there are, and no sum of two overflows.
const most = math.MaxInt / 4

func newPage(o Options, early bool) *page {
	p := &page{offset: o.Offset, limit: o.Limit, newest: o.Newest, early: early && !o.Newest}
	if o.Limit > 0 {
		p.need = min(o.Offset, most) + min(o.Limit, most) + 1
	}
	return p
}

// weigh counts the results of hits: lines where there are lines.
func weigh(hits []Hit) int {
	n := 0
	for i := range hits {
		n += max(1, len(hits[i].Lines))
	}
	return n
}

func (p *page) add(c chunk) {
	if len(c.hits) == 0 {
		return
	}
	weight := weigh(c.hits)
	p.hits += len(c.hits) + c.rest
	p.results += weight + c.rest
	p.weight += weight
	p.matches += c.matches
	for i := range c.hits {
		p.matches += c.hits[i].Count
	}
	if p.newest {
		p.addNewest(c)
		return
	}
	i, _ := slices.BinarySearchFunc(p.chunks, c.key, func(c chunk, key string) int { return strings.Compare(c.key, key) })
	p.chunks = slices.Insert(p.chunks, i, c)
	p.trim()
}

// trim drops the chunks that lie behind the page.
func (p *page) trim() {
	if p.need == 0 {
		return
	}
	for p.weight >= p.need {
		last := p.chunks[len(p.chunks)-1]
		p.cutoff = last.key
		if w := weigh(last.hits); p.weight-w >= p.need {
			p.weight -= w
			p.chunks = p.chunks[:len(p.chunks)-1]
			continue
		}
		return
	}
}

// addNewest keeps one chunk a hit and sorts now and then, so that memory stays bounded.
func (p *page) addNewest(c chunk) {
	for i := range c.hits {
		p.chunks = append(p.chunks, chunk{key: c.hits[i].Path, hits: c.hits[i : i+1]})
	}
	if p.need > 0 && p.weight > 4*p.need+1000 {
		p.sortNewest()
		for len(p.chunks) > 1 {
			w := weigh(p.chunks[len(p.chunks)-1].hits)
			if p.weight-w < p.need {
				return
			}
			p.weight -= w
			p.chunks = p.chunks[:len(p.chunks)-1]
		}
	}
}

func (p *page) sortNewest() {
	slices.SortFunc(p.chunks, func(a, b chunk) int {
		return cmp.Or(b.hits[0].ModTime.Compare(a.hits[0].ModTime), strings.Compare(a.key, b.key))
	})
}

// beyond reports whether what comes at key can be left alone.
func (p *page) beyond(key string) bool {
	return p.early && p.cutoff != "" && key > p.cutoff
}

// cut returns the hits of the page, and whether others follow.
func (p *page) cut() (hits []Hit, more bool) {
	if p.newest {
		p.sortNewest()
	}
	skip, left := p.offset, p.limit
	for _, c := range p.chunks {
		for _, h := range c.hits {
			n := max(1, len(h.Lines))
			if skip >= n {
				skip -= n
				continue
			}
			if p.limit > 0 && left == 0 {
				return hits, true
			}
			take := n - skip
			if p.limit > 0 {
				take = min(take, left)
			}
			left -= take
			if len(h.Lines) > 0 {
				h.Lines = h.Lines[skip : skip+take]
			}
			hits, more = append(hits, h), take < n-skip
			skip = 0
		}
	}
	return hits, more
}
