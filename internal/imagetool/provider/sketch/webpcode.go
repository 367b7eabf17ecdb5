package sketch

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// A token is a pixel (length 0), or length pixels from distance code value.
type token struct{ length, value uint32 }

const (
	shortest = 3    // repeat worth a token, in pixels
	longest  = 4096 // repeat in one token
	farthest = 1<<20 - 120
	tableLog = 16
)

// repeats finds what came before: on the left, in the row above, or where three such pixels
// stood last.
func repeats(ctx context.Context, p []uint32, width int) (tokens []token, err error) {
	seen := make([]int32, 1<<tableLog) // position plus one, by hash
	for i := 0; i < len(p); {
		if len(tokens)&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		best, from := 0, 0
		try := func(at int) {
			if at >= 0 && at < i && i-at <= farthest {
				if n := same(p, at, i); n > best {
					best, from = n, at
				}
			}
		}
		try(i - 1)
		try(i - width)
		if i+shortest <= len(p) {
			try(int(seen[spot(p[i:])]) - 1)
		}
		n := 1
		if best >= shortest {
			n = best
			tokens = append(tokens, token{uint32(n), distanceCode(i-from, width)})
		} else {
			tokens = append(tokens, token{0, p[i]})
		}
		for end := i + n; i < end; i++ {
			if i+shortest <= len(p) {
				seen[spot(p[i:])] = int32(i + 1)
			}
		}
	}
	return tokens, nil
}

func same(p []uint32, a, b int) (n int) {
	for most := min(len(p)-b, longest); n < most && p[a+n] == p[b+n]; n++ {
	}
	return n
}

// spot hashes the three pixels that p starts with.
func spot(p []uint32) uint32 {
	return (p[0]*0x9e3779b1 ^ p[1]*0x85ebca77 ^ p[2]*0xc2b2ae3d) * 0x27d4eb2f >> (32 - tableLog)
}

// distanceCode is short for the pixel above and the one on the left.
func distanceCode(distance, width int) uint32 {
	switch distance {
	case width:
		return 1
	case 1:
		return 2
	}
	return uint32(distance + 120)
}

// prefix splits a length or distance code, from 1, into a symbol and bits that follow it.
func prefix(v uint32) (symbol, rest uint32, count int) {
	v--
	if v < 4 {
		return v, 0, 0
	}
	count = bits.Len32(v) - 2
	return uint32(2*count) + v>>count, v & (1<<count - 1), count
}

// pixels writes an image: five sets of codes, and the tokens by them.
func (b *bitWriter) pixels(ctx context.Context, p []uint32, width int) error {
	tokens, err := repeats(ctx, p, width)
	if err != nil {
		return err
	}
	green, red, blue := make([]int, 256+24), make([]int, 256), make([]int, 256)
	alpha, distance := make([]int, 256), make([]int, 40)
	for _, t := range tokens {
		if t.length == 0 {
			green[t.value>>8&255]++
			red[t.value>>16&255]++
			blue[t.value&255]++
			alpha[t.value>>24]++
			continue
		}
		symbol, _, _ := prefix(t.length)
		green[256+symbol]++
		symbol, _, _ = prefix(t.value)
		distance[symbol]++
	}
	g, r, bl, a, d := b.codes(green), b.codes(red), b.codes(blue), b.codes(alpha), b.codes(distance)
	for i, t := range tokens {
		if i&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if t.length == 0 {
			b.code(g[t.value>>8&255])
			b.code(r[t.value>>16&255])
			b.code(bl[t.value&255])
			b.code(a[t.value>>24])
			continue
		}
		symbol, rest, count := prefix(t.length)
		b.code(g[256+symbol])
		b.write(uint64(rest), count)
		symbol, rest, count = prefix(t.value)
		b.code(d[symbol])
		b.write(uint64(rest), count)
	}
	return nil
}

// A code is what stands for a symbol: its bits in the order in which they are written.
type code struct {
	bits   uint32
	length int
}

// codes makes the codes for symbols by how often each is used, and writes them.
func (b *bitWriter) codes(counts []int) []code {
	var used []int
	for symbol, n := range counts {
		if n > 0 {
			used = append(used, symbol)
		}
	}
	if len(used) == 0 {
		used = []int{0}
	}
	if len(used) <= 2 && used[len(used)-1] < 256 {
		return b.simpleCodes(used, len(counts))
	}
	lengths := codeLengths(counts, 15)
	b.write(0, 1)
	b.lengths(lengths)
	return canonical(lengths)
}

// simpleCodes is the short form for one or two symbols. One alone takes no bits at all.
func (b *bitWriter) simpleCodes(used []int, symbols int) []code {
	b.write(1, 1)
	b.write(uint64(len(used)-1), 1)
	if used[0] < 2 {
		b.write(0, 1)
		b.write(uint64(used[0]), 1)
	} else {
		b.write(1, 1)
		b.write(uint64(used[0]), 8)
	}
	all := make([]code, symbols)
	if len(used) == 2 {
		b.write(uint64(used[1]), 8)
		all[used[0]], all[used[1]] = code{0, 1}, code{1, 1}
	}
	return all
}

// lengthOrder is how the lengths of the codes for lengths are sorted in the file.
var lengthOrder = []int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// lengths writes the length of each code, runs shortened, in codes of their own.
func (b *bitWriter) lengths(lengths []int) {
	runs := shorten(lengths)
	counts := make([]int, len(lengthOrder))
	for _, r := range runs {
		counts[r.symbol]++
	}
	own := codeLengths(counts, 7)
	n := len(lengthOrder)
	for n > 4 && own[lengthOrder[n-1]] == 0 {
		n--
	}
	b.write(uint64(n-4), 4)
	for _, symbol := range lengthOrder[:n] {
		b.write(uint64(own[symbol]), 3)
	}
	b.write(0, 1) // all symbols follow
	codes := canonical(own)
	for _, r := range runs {
		b.code(codes[r.symbol])
		b.write(uint64(r.rest), r.count)
	}
}

// A run is a code length, or says how often one repeats: 16 the last one, 17 and 18 zero.
type run struct{ symbol, rest, count int }

func shorten(lengths []int) (runs []run) {
	for i := 0; i < len(lengths); {
		n := 1
		for i+n < len(lengths) && lengths[i+n] == lengths[i] {
			n++
		}
		i += n
		if v := lengths[i-1]; v > 0 {
			runs = append(runs, run{v, 0, 0})
			runs = append(runs, repeated(v, n-1)...)
			continue
		}
		for ; n >= 11; n -= min(n, 138) {
			runs = append(runs, run{18, min(n, 138) - 11, 7})
		}
		if n >= 3 {
			runs = append(runs, run{17, n - 3, 3})
			n = 0
		}
		for range n {
			runs = append(runs, run{0, 0, 0})
		}
	}
	return runs
}

// repeated says n times more that a length is v.
func repeated(v, n int) (runs []run) {
	for ; n >= 3; n -= min(n, 6) {
		runs = append(runs, run{16, min(n, 6) - 3, 2})
	}
	for range n {
		runs = append(runs, run{v, 0, 0})
	}
	return runs
}

// codeLengths returns how long the code of each symbol should be, at most limit. Where the
// best ones are longer, rare symbols are counted as more frequent until they fit.
func codeLengths(counts []int, limit int) []int {
	for least := 1; ; least *= 2 {
		lengths := huffman(counts, least)
		if slices.Max(lengths) <= limit {
			return lengths
		}
	}
}

// huffman joins the two rarest again and again; every symbol below them gets one bit longer.
func huffman(counts []int, least int) []int {
	type node struct {
		weight int
		below  []int // symbols
	}
	var leaves, joined []node
	for symbol, n := range counts {
		if n > 0 {
			leaves = append(leaves, node{max(n, least), []int{symbol}})
		}
	}
	slices.SortStableFunc(leaves, func(a, b node) int { return cmp.Compare(a.weight, b.weight) })
	rarest := func() (n node) {
		if len(joined) == 0 || len(leaves) > 0 && leaves[0].weight <= joined[0].weight {
			n, leaves = leaves[0], leaves[1:]
		} else {
			n, joined = joined[0], joined[1:]
		}
		return n
	}
	lengths := make([]int, len(counts))
	for len(leaves)+len(joined) > 1 {
		a, b := rarest(), rarest()
		both := slices.Concat(a.below, b.below)
		for _, symbol := range both {
			lengths[symbol]++
		}
		joined = append(joined, node{a.weight + b.weight, both})
	}
	return lengths
}

// canonical returns the codes of given lengths: shorter first, then by symbol.
func canonical(lengths []int) []code {
	codes := make([]code, len(lengths))
	var next uint32
	for length := 1; length <= slices.Max(lengths); length++ {
		next <<= 1
		for symbol, l := range lengths {
			if l == length {
				codes[symbol] = code{bits.Reverse32(next) >> (32 - length), length}
				next++
			}
		}
	}
	return codes
}

// A bitWriter collects bits, the lowest first.
type bitWriter struct {
	out   []byte
	bits  uint64
	count int
}

// write appends the lowest n bits of v; n is at most 32.
func (b *bitWriter) write(v uint64, n int) {
	b.bits |= v << b.count
	for b.count += n; b.count >= 8; b.count -= 8 {
		b.out = append(b.out, byte(b.bits))
		b.bits >>= 8
	}
}

func (b *bitWriter) code(c code) { b.write(uint64(c.bits), c.length) }

// finish returns all that was written, filled up to a whole byte.
func (b *bitWriter) finish() []byte {
	if b.count > 0 {
		b.write(0, 8-b.count)
	}
	return b.out
}
