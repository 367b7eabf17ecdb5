package patchapply

import "slices"

// find returns at most limit places from line from on where the file has lines. It asks the places of the rarest line; where these are so many
// that this could take more than linear time it goes on as Knuth, Morris and Pratt do.
func (x *lineIndex) find(lines [][]byte, from, limit int) (found []int) {
	hashes, rarest := x.rarest(lines)
	places := x.places(hashes[rarest])
	first, _ := slices.BinarySearch(places, int32(min(from+rarest, x.file.count())))
	work := 4 * len(x.hashes)
	for _, place := range places[first:] {
		start := int(place) - rarest
		n := x.agree(hashes, start)
		if n == len(hashes) && x.matches(lines, start) {
			if found = append(found, start); len(found) == limit {
				return found
			}
		}
		if work -= n + 1; work < 0 {
			return x.findLinear(lines, hashes, start+1, limit, found)
		}
	}
	return found
}

// agree returns how many hashes from the first on are those of lines from start on.
func (x *lineIndex) agree(hashes []uint64, start int) int {
	if start+len(hashes) > len(x.hashes) {
		return 0
	}
	for i, h := range hashes {
		if x.hashes[start+i] != h {
			return i
		}
	}
	return len(hashes)
}

// rarest returns the hashes of lines, and which of them the file has least often.
func (x *lineIndex) rarest(lines [][]byte) (hashes []uint64, rarest int) {
	hashes = make([]uint64, len(lines))
	for i, line := range lines {
		hashes[i] = x.hash(line)
		if len(x.places(hashes[i])) < len(x.places(hashes[rarest])) {
			rarest = i
		}
	}
	return hashes, rarest
}

// findLinear goes on with a search in time linear in the file, however often lines repeat.
func (x *lineIndex) findLinear(lines [][]byte, hashes []uint64, from, limit int, found []int) []int {
	x.scan(lines, hashes, from, func(start int) bool {
		found = append(found, start)
		return len(found) < limit
	})
	return found
}

// scan calls visit for each place from line from on where the file has lines, until it
// returns false.
func (x *lineIndex) scan(lines [][]byte, hashes []uint64, from int, visit func(start int) bool) {
	fail := borders(hashes)
	k := 0
	for i := from; i < len(x.hashes); i++ {
		for k > 0 && (k == len(hashes) || hashes[k] != x.hashes[i]) {
			k = fail[k-1]
		}
		if hashes[k] == x.hashes[i] {
			k++
		}
		start := i + 1 - len(hashes)
		if k == len(hashes) && x.sample(lines, start) && !visit(start) {
			return
		}
	}
}

// sample compares the first and the last line themselves. Comparing all at each place would
// not be linear; hashes of 64 bits with a secret seed do not collide by accident or intent.
func (x *lineIndex) sample(lines [][]byte, start int) bool {
	last := len(lines) - 1
	return x.equal(lines[0], start) && x.equal(lines[last], start+last)
}

// borders returns, for each prefix, the length of its longest proper border.
func borders(hashes []uint64) []int {
	fail := make([]int, len(hashes))
	for i, k := 1, 0; i < len(hashes); i++ {
		for k > 0 && hashes[k] != hashes[i] {
			k = fail[k-1]
		}
		if hashes[k] == hashes[i] {
			k++
		}
		fail[i] = k
	}
	return fail
}
