package sketch

// ground is a calm background for things that stand for themselves.
func ground(s *scene) {
	if s.clear {
		return
	}
	s.fill(s.all(), s.gradient(mix(s.sky[1], s.sky[0], 60), s.sky[1], mix(s.sky[1], s.sky[2], 200)))
	s.glow(s.sun, s.unit*9/10, s.light.fade(130))
}

// bokeh are lights out of focus.
func bokeh(s *scene) {
	if s.clear {
		return
	}
	for range 14 {
		c := pick(s.random, []tint{s.light, s.fresh, s.warm, s.sky[2]})
		at := s.at(s.between(0, 1000), s.between(0, 1000))
		s.fill(circle(at, s.units(s.between(25, 110))), solid(c.fade(uint8(s.between(20, 48)))))
	}
}

// blossoms are flowers on stems, larger in front.
func blossoms(depth int64) layer {
	return func(s *scene) {
		n := s.width / s.units(330-depth*10)
		for i := range n + 2 {
			x := s.width*(2*i-1)/(2*n) + s.units(s.between(-60, 60))
			y := s.height * (s.between(240, 480) + depth*110) / 1000
			s.blossom(point{x + depth%2*s.units(150), y}, s.units(s.between(52, 78)+depth*18), depth)
		}
		if depth == 2 {
			s.grass()
		}
	}
}

func (s *scene) blossom(at point, r, depth int64) {
	green := mix(mix(s.far, s.near, 90+depth*60), hex(0x3f8f5f), 80)
	foot := point{at.x + s.units(s.between(-70, 70)), s.height + r}
	var stem path
	stem.move(at)
	stem.quad(point{at.x, (at.y + foot.y) / 2}, foot)
	s.fill(stroke(stem[0], r/7, 0), solid(green))
	s.leaves(at, r, green)
	base := mix(pick(s.random, []tint{s.warm, s.fresh, s.light, s.warm, mix(s.warm, s.sky[0], 110)}), s.sky[2], 100-depth*50)
	n := int64(5 + s.below(8))
	start := s.between(0, turn)
	for ring := range int64(2) {
		out := r * (100 - ring*34) / 100
		c := mix(base, white, 20+ring*60)
		for i := range n {
			a := start + i*turn/n + ring*turn/(2*n)
			s.fill(petal(at, a, out, out*38/(10*n)), paint{[]tint{mix(c, white, 40), mix(c, s.near, 20+i&1*24)}, at.y - r, at.y + r})
		}
	}
	heart := mix(s.fresh, s.near, 60)
	s.fill(circle(at, r*27/100), solid(heart))
	var dots path
	for i := range int64(21) {
		dots.circle(at.around(i*25032, root(i*pixel*pixel)*r/(pixel*20)), r/32) // by the golden angle, as seeds grow
	}
	s.fill(dots, solid(mix(heart, white, 150)))
}

// petal is a leaf from at outwards, broadest behind its middle.
func petal(at point, angle, long, half int64) (p path) {
	tip := at.around(angle, long)
	side := func(by int64) (point, point) {
		return at.around(angle, long*35/100).around(angle+turn/4, by*9/10), at.around(angle, long*98/100).around(angle+turn/4, by*13/10)
	}
	a, b := side(half)
	c, d := side(-half)
	p.move(at)
	p.cube(a, b, tip)
	p.cube(d, c, at)
	return p
}

func (s *scene) leaves(at point, r int64, green tint) {
	var p path
	for i := range int64(3) {
		root := at.plus(s.units(s.between(-6, 6)), r*(22+i*13)/10)
		side := turn/8 + s.between(0, turn/16)
		if (i+at.x)&1 == 0 {
			side = turn/2 - side
		}
		p = append(p, petal(root, -side, r*s.between(80, 120)/100, r*22/100)...)
	}
	s.fill(p, solid(mix(green, s.fresh, 30)))
}

func (s *scene) grass() {
	for i := range int64(2) {
		var p path
		for x := int64(0); x < s.width; x += s.units(s.between(5, 15)) {
			foot := point{x, s.height + s.units(5)}
			high := s.units(s.between(50, 150) - i*30)
			lean := s.units(s.between(-30, 30))
			blade := []point{foot, foot.plus(lean/3, -high/2), foot.plus(lean, -high)}
			p = append(p, stroke(blade, s.units(8), 256)...)
		}
		s.fill(p, solid(mix(mix(s.far, s.near, 150+i*90), hex(0x3f8f5f), 70).fade(230)))
	}
}
