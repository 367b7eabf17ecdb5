package patchapply

// findLinear goes on with a search in time linear in the file, however often lines repeat.
func (x *lineIndex) findLinear(lines [][]byte, hashes []uint64, from, limit int, found []int) []int {
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
		if k == len(hashes) && x.sample(lines, start) {
			if found = append(found, start); len(found) == limit {
				break
			}
		}
	}
	return found
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
