package sketch

// deep is the black between the stars, not quite black.
func deep(s *scene) {
	if !s.clear {
		s.fill(s.all(), s.gradient(mix(s.sky[0], black, 120), mix(s.sky[0], black, 40), mix(s.sky[1], black, 60)))
	}
}

// nebula is a band of glowing clouds across the picture.
func nebula(s *scene) {
	if s.clear {
		return
	}
	from, to := s.at(0, s.between(100, 900)), s.at(1000, s.between(100, 900))
	for i := range int64(14) {
		at := point{from.x + (to.x-from.x)*i/13, from.y + (to.y-from.y)*i/13}
		at = at.plus(s.units(s.between(-120, 120)), s.units(s.between(-120, 120)))
		c := mix(pick(s.random, []tint{s.warm, s.fresh, s.sky[2], s.sky[2]}), s.sky[2], 90)
		s.glow(at, s.units(s.between(160, 420)), c.fade(uint8(s.between(30, 80))))
	}
	stars(s)
}

// planet is a ball with bands, lit from one side, and often a ring.
func planet(s *scene) {
	r := s.units(s.between(150, 230))
	at := s.at(s.between(330, 670), s.between(340, 560))
	tilt := s.between(turn/40, turn/12) * (1 - 2*int64(s.below(2)))
	ring := s.chance(75)
	if !s.clear {
		s.glow(at, r*2, s.warm.fade(70))
	}
	if ring {
		s.ring(at, r, tilt)
	}
	base := pick(s.random, []tint{s.warm, s.fresh, s.sky[2]})
	s.fill(circle(at, r), solid(base))
	for y := -r * 9 / 10; y < r*9/10; y += r * s.between(12, 30) / 100 {
		s.fill(band(at, r, y, y+r*s.between(6, 16)/100, tilt), solid(mix(base, pick(s.random, []tint{s.light, s.near}), 110).fade(120)))
	}
	var night path // what the light does not reach
	night.circle(at, r)
	night.hole(at.plus(-r*3/10, -r*25/100), r*112/100, r*112/100, 0)
	s.fill(night.within(at, r), solid(s.near.fade(150)))
	if ring {
		s.halfRing(at, r, tilt)
	}
	moonAt := at.around(s.between(0, turn), r*2)
	s.fill(circle(moonAt, r/7), paint{[]tint{s.light, mix(s.light, s.near, 150)}, moonAt.y - r/7, moonAt.y + r/7})
}

// band is what lies between two heights of a ball.
func band(at point, r, top, bottom, tilt int64) (p path) {
	bottom = min(bottom, r)
	cos, sin := cosine(tilt), sine(tilt)
	var right []point
	for i := range int64(9) {
		y := top + (bottom-top)*i/8
		x := root(max(r*r-y*y, 0))
		left := at.plus((-x*cos-y*sin)>>16, (-x*sin+y*cos)>>16)
		if i == 0 {
			p.move(left)
		} else {
			p.line(left)
		}
		right = append(right, at.plus((x*cos-y*sin)>>16, (x*sin+y*cos)>>16))
	}
	for i := len(right) - 1; i >= 0; i-- {
		p.line(right[i])
	}
	return p
}

// within pulls every point into a circle.
func (p path) within(at point, r int64) path {
	for _, outline := range p {
		for i, q := range outline {
			dx, dy := q.x-at.x, q.y-at.y
			if d := root(dx*dx + dy*dy); d > r {
				outline[i] = at.plus(dx*r/d, dy*r/d)
			}
		}
	}
	return p
}

func (s *scene) ring(at point, r, tilt int64) {
	for _, by := range []int64{200, 172} {
		var p path
		p.ellipse(at, r*by/100, r*by*22/10000, tilt)
		p.hole(at, r*(by-22)/100, r*(by-24)*22/10000, tilt)
		s.fill(p, solid(mix(s.light, s.warm, 256-by).fade(200)))
	}
}

// halfRing is the part of the ring before the ball.
func (s *scene) halfRing(at point, r, tilt int64) {
	cos, sin := cosine(tilt), sine(tilt)
	arc := func(by, flat int64, back bool) (points []point) {
		for i := range int64(65) {
			a := i * turn / 2 / 64
			if back {
				a = turn/2 - a
			}
			x, y := cosine(a)*r*by/100>>16, sine(a)*r*flat*22/10000>>16
			points = append(points, at.plus((x*cos-y*sin)>>16, (x*sin+y*cos)>>16))
		}
		return points
	}
	for _, by := range []int64{200, 172} {
		p := path{arc(by, by, false)}
		p.line(arc(by-22, by-24, true)...)
		s.fill(p, solid(mix(s.light, s.warm, 256-by)))
	}
}

func comet(s *scene) {
	head := s.at(s.between(100, 900), s.between(80, 250))
	long := s.units(s.between(160, 300))
	angle := s.between(turn*54/100, turn*64/100)
	for i := range int64(5) {
		tail := stroke([]point{head, head.around(angle, long*(5-i)/8), head.around(angle, long*(5-i)/5)}, s.units(3+i*2), 256)
		s.fill(tail, solid(s.light.fade(50)))
	}
	s.fill(circle(head, s.units(7)), solid(s.light))
}
