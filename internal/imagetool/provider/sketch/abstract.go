package sketch

// colors returns those of the palette that stand out from the background.
func (s *scene) colors() []tint {
	return []tint{s.warm, s.fresh, s.near, s.sky[0], s.light, s.far, mix(s.warm, s.near, 110)}
}

// ribbons are bands that swing across the picture, one behind the other.
func ribbons(depth int64) layer {
	return func(s *scene) {
		phase, long := s.between(0, turn), s.units(s.between(700, 1300))
		other := s.between(0, turn)
		base := s.height * (300 + depth*145) / 1000
		high := s.units(s.between(60, 120))
		height := func(x int64) int64 {
			return base + sine(phase+x*turn/long)*high>>16 + sine(other+x*turn*5/(long*8))*high>>16
		}
		order := []tint{mix(s.sky[0], s.sky[1], 90), mix(s.warm, s.sky[2], 60), s.warm, mix(s.warm, s.near, 150), s.near}
		if depth == 1 {
			order[1] = mix(s.fresh, s.sky[2], 60)
		}
		c := order[depth]
		shadow := func(x int64) int64 { return height(x) - s.units(16) }
		s.fill(s.ridge(shadow), paint{[]tint{s.near.fade(0), s.near.fade(60)}, base - high*2, base + high*2})
		s.fill(s.ridge(height), paint{[]tint{mix(c, white, 70), c, mix(c, s.near, 60)}, base - high*2, s.height})
		thread := func(x int64) int64 { return height(x) + s.units(22) }
		s.fill(s.rope(thread, s.units(3)), solid(s.light.fade(120)))
	}
}

// rope is a line of some width along a height.
func (s *scene) rope(height func(int64) int64, wide int64) path {
	step := max(s.unit/200, pixel)
	var points []point
	for x := -step; x <= s.width+step; x += step {
		points = append(points, point{x, height(x)})
	}
	return stroke(points, max(wide, pixel), 0)
}

// tiles are squares of one size with simple shapes in them. Each pass draws every third one.
func tiles(pass int) layer {
	return func(s *scene) {
		cell := max(s.unit/5, pixel*4)
		columns, rows := (s.width+cell-1)/cell, (s.height+cell-1)/cell
		left, top := (s.width-columns*cell)/2, (s.height-rows*cell)/2
		for i := range int(columns * rows) {
			if i%3 != pass {
				continue
			}
			at := point{left + int64(i)%columns*cell, top + int64(i)/columns*cell}
			s.tile(at, cell)
		}
	}
}

func (s *scene) tile(at point, cell int64) {
	all := []tint{s.warm, s.fresh, s.near, s.sky[0], s.light, mix(s.sky[1], white, 60)}
	i := s.below(len(all))
	back, front := all[i], all[(i+1+s.below(len(all)-1))%len(all)]
	third := all[(i+3)%len(all)]
	to := at.plus(cell, cell)
	if !s.clear {
		s.fill(box(at, to), solid(back))
	}
	corner := pick(s.random, []point{at, to, {to.x, at.y}, {at.x, to.y}})
	middle := at.plus(cell/2, cell/2)
	inside := func(p path) path {
		for _, outline := range p {
			for i, q := range outline {
				outline[i] = point{min(max(q.x, at.x), to.x), min(max(q.y, at.y), to.y)}
			}
		}
		return p
	}
	switch s.below(6) {
	case 0: // a quarter of a disc, and one in it
		s.fill(inside(circle(corner, cell)), solid(front))
		s.fill(inside(circle(corner, cell/2)), solid(third))
	case 1: // two halves
		s.fill(inside(circle(point{middle.x, at.y}, cell/2)), solid(front))
		s.fill(inside(circle(point{middle.x, to.y}, cell/2)), solid(front))
	case 2: // an eye
		s.fill(circle(middle, cell*42/100), solid(front))
		s.fill(circle(middle, cell*20/100), solid(third))
	case 3: // a triangle
		s.fill(path{{corner, {at.x + to.x - corner.x, corner.y}, {corner.x, at.y + to.y - corner.y}}}, solid(front))
	case 4: // a leaf
		var p path
		p.move(corner)
		far := point{at.x + to.x - corner.x, at.y + to.y - corner.y}
		p.quad(point{far.x, corner.y}, far)
		p.quad(point{corner.x, far.y}, corner)
		s.fill(p, solid(front))
	case 5: // bars
		for k := range int64(3) {
			s.fill(box(at.plus(0, cell*(2*k+1)/7), point{to.x, at.y + cell*(2*k+2)/7}), solid(front))
		}
	}
}

// orbs are balls that float, and rings round them.
func orbs(pass int64) layer {
	return func(s *scene) {
		for range 3 + pass*2 {
			at := s.at(s.between(80, 920), s.between(80, 920))
			r := s.units(s.between(60, 190) * (4 - pass) / 3)
			s.orb(at, r, pick(s.random, s.colors()))
			if s.chance(35) {
				var p path
				p.circle(at, r*13/10)
				p.hole(at, r*13/10-s.units(4), r*13/10-s.units(4), 0)
				s.fill(p, solid(s.light.fade(200)))
			}
		}
	}
}

func (s *scene) orb(at point, r int64, c tint) {
	if !s.clear {
		s.glow(at.plus(r/5, r/3), r*14/10, s.near.fade(110)) // its shadow
	}
	s.fill(circle(at, r), paint{[]tint{mix(c, white, 70), mix(c, s.near, 80)}, at.y - r, at.y + r})
	s.glow(at.plus(-r*35/100, -r*40/100), r*45/100, white.fade(120))
}
