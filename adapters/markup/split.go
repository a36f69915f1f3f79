package markup

import "sort"

// Split cuts Markdown into Markdown pieces that each render alone and measure
// at most t.Max. It returns nil for a text that shows nothing.
//
// Nothing is lost, and nothing repeated but the frame of what is cut in two:
// fence lines and table headers. It cuts between blocks if it can, else
// between list items and lines, sentences, words, grapheme clusters. Where
// t.Max is too small for even the smallest part in its form (a link longer
// than a message, a wide table row), that form becomes text.
func Split(md string, t Target) []string {
	md = clean(md)
	doc := parse(md)
	if len(doc) == 0 {
		return nil
	}
	s := newSplitter(doc, t)
	if s.before[len(s.leaves)] <= far*t.Max && t.Measure(md) <= t.Max {
		return []string{md}
	}
	var pieces []string
	for s.at.leaf < len(s.leaves) {
		pieces = append(pieces, s.next())
	}
	return pieces
}

// position is a place in a document: an offset into a leaf. The end of one
// leaf is the start of the next.
type position struct{ leaf, off int }

type splitter struct {
	target Target
	leaves []leaf
	before []int    // before[i] is the weight of the leaves before leaf i
	at     position // where the next piece starts
	rate   float64  // units per weight, as last measured
}

func newSplitter(doc []block, t Target) *splitter {
	s := &splitter{target: t, leaves: leavesOf(doc), rate: 1}
	s.before = make([]int, len(s.leaves)+1)
	for i := range s.leaves {
		s.before[i+1] = s.before[i] + s.leaves[i].weight()
	}
	return s
}

// weight is the weight of all before p.
func (s *splitter) weight(p position) int {
	if p.off == 0 {
		return s.before[p.leaf]
	}
	return s.before[p.leaf] + p.off*(s.before[p.leaf+1]-s.before[p.leaf])/s.leaves[p.leaf].size()
}

// piece is a candidate: everything from where the splitter stands to end.
type piece struct {
	text  string
	units int
	end   position
}

func (s *splitter) upTo(end position) piece {
	text := markdown(assemble(s.leaves, s.at, end))
	return piece{text, s.target.Measure(text), end}
}

// next returns the next piece and moves on behind it.
func (s *splitter) next() string {
	for {
		p, good := s.wholeLeaves()
		if !good {
			p = s.partOfLeaf(p)
		}
		if p.text != "" {
			s.at = p.end
			return p.text
		}
		l := &s.leaves[s.at.leaf]
		if l.simplify(s.at.leaf, s.at.off, s.target.Max) {
			s.at.off = 0
			continue
		}
		// Not even one character fits: better too long than never sent.
		p = s.upTo(l.end(s.at.leaf, l.cutsAfter(s.at.off, s.target.Max)[0]))
		s.at = p.end
		return p.text
	}
}

// far is how many times Max the weight of a piece may be before it is not
// even tried: platforms count at least one unit per character, of four bytes
// at most.
const far = 4

// wholeLeaves finds the piece of as many whole leaves as fit, cut at the best
// place between them; it is empty if not one fits. The cut is good unless the
// piece should rather go on into the leaf it ends before.
func (s *splitter) wholeLeaves() (p piece, good bool) {
	first, start := s.at.leaf, s.weight(s.at)
	n := sort.Search(len(s.leaves)-first, func(k int) bool {
		return s.before[first+k+1]-start > far*s.target.Max
	})
	p, _ = s.fit(n, func(k int) position { return position{first + k, 0} })
	if p.text == "" {
		return piece{end: s.at}, false
	}
	last := p.end.leaf
	if last == len(s.leaves) {
		return p, true
	}
	best := s.bestBoundary(last)
	if s.followsHeading(best) || p.units < s.target.Max/2 && !s.fitsAlone(last) {
		return p, false
	}
	return s.better(p, position{best, 0}), true
}

// better is the piece that ends at the better place end before the end of p,
// or p if that does not fit: less text may need more markers.
func (s *splitter) better(p piece, end position) piece {
	if end == p.end {
		return p
	}
	if q := s.upTo(end); q.units <= s.target.Max {
		return q
	}
	return p
}

// bestBoundary is the leaf before which to cut, at most last: rather between
// outer blocks than inner ones, not after a heading, and not before half of
// the piece is used.
func (s *splitter) bestBoundary(last int) int {
	half := (s.weight(s.at) + s.before[last]) / 2
	best := last
	for i := last - 1; i > s.at.leaf && s.before[i] >= half; i-- {
		if s.depth(i) < s.depth(best) {
			best = i
		}
	}
	return best
}

// depth is the number of containers around the boundary before leaf i. One
// after a heading is deeper than any, for what follows belongs to it.
func (s *splitter) depth(i int) int {
	if s.followsHeading(i) {
		return 3 * maxDepth
	}
	a, b := s.leaves[i-1].within, s.leaves[i].within
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n > 0 && n < len(b) && b[n-1].isItem() {
		return n + 1 // what an item leads up to is no better a place than within
	}
	return n
}

func (s *splitter) followsHeading(i int) bool {
	_, ok := s.leaves[i-1].block.(heading)
	return ok
}

// fitsAlone reports whether leaf i would fit a piece of its own.
func (s *splitter) fitsAlone(i int) bool {
	if s.leaves[i].weight() > far*s.target.Max {
		return false
	}
	text := markdown(assemble(s.leaves, position{i, 0}, position{i + 1, 0}))
	return s.target.Measure(text) <= s.target.Max
}

// partOfLeaf extends whole into the leaf it ends before. It returns whole
// itself, which may be empty, if nothing more fits or only a part of a word.
func (s *splitter) partOfLeaf(whole piece) piece {
	i, from := whole.end.leaf, whole.end.off
	l := &s.leaves[i]
	cuts := l.cutsAfter(from, s.target.Max)
	p, n := s.fit(len(cuts), func(k int) position { return l.end(i, cuts[k-1]) })
	if n == 0 {
		return whole
	}
	best := bestCut(cuts[:n], from)
	if best.level < atWord && whole.text != "" {
		return whole
	}
	return s.better(p, l.end(i, best))
}

// bestCut chooses among cuts that all fit: the last one of the best kind.
// Sentences and lines count only if they leave the piece at least half full.
func bestCut(cuts []cut, from int) cut {
	best := cuts[len(cuts)-1]
	half := (from + best.off) / 2
	for i := len(cuts) - 2; i >= 0; i-- {
		if c := cuts[i]; c.level > best.level && (c.off >= half || best.level < atWord) {
			best = c
		}
	}
	return best
}

// fit finds about the most of n steps that fit one piece; it returns the
// piece and the number of steps, or none and zero. Step k, from one on, ends
// at end(k).
//
// It guesses from the weight and corrects the guess by what was measured, so
// it measures few pieces and none much longer than one that fits.
func (s *splitter) fit(n int, end func(k int) position) (best piece, steps int) {
	slack, start := s.target.Max/32, s.weight(s.at)
	for bad, try := n+1, 0; bad-steps > 1; try++ {
		k := (steps + bad) / 2
		if try < 8 || bad > n {
			most := start + int(float64(s.target.Max-slack/2-best.units)/s.rate)
			if steps > 0 {
				most += s.weight(best.end) - start
			}
			k = max(steps+1, steps+sort.Search(bad-steps-1, func(i int) bool { return s.weight(end(steps+1+i)) > most }))
		}
		p := s.upTo(end(k))
		s.rate = max(float64(p.units)/float64(max(1, s.weight(p.end)-start)), 1.0/far)
		if p.units > s.target.Max {
			bad = k
			continue
		}
		best, steps = p, k
		if s.target.Max-p.units <= slack {
			break
		}
	}
	return best, steps
}
