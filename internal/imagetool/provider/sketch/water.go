package sketch

// horizon is where sea and sky meet, in thousandths of the height.
const horizon = 560

// coast is land far out.
func coast(s *scene) {
	line := noise(s.next())
	base := s.height * horizon / 1000
	cut := s.width * s.between(300, 700) / 1000
	left := s.chance(50)
	height := func(x int64) int64 {
		in := cut - x
		if !left {
			in = x - cut
		}
		in = min(max(in, 0), s.units(300))
		return base - line.edged(x*pixel/s.units(150))*in/5>>16
	}
	p := s.ridge(height).above(base)
	s.fill(p, solid(mix(s.far, s.sky[2], 60)))
}

func water(s *scene) {
	top := s.height * horizon / 1000
	tints := []tint{mix(s.sky[2], s.far, 110), mix(s.far, s.near, 100), s.near}
	s.fill(box(point{0, top}, point{s.width, s.height}), paint{tints, top, s.height})
}

// glitter is the light's way over the water.
func glitter(s *scene) {
	top := s.height * horizon / 1000
	var p path
	for range 46 {
		down := s.between(4, 440)
		y := top + (s.height-top)*down*down/(440*440)*9/10
		wide := s.units(20 + s.between(0, 90)*(40+down)/200)
		x := s.sun.x + s.units(s.between(-90, 90)*(80+down)/300)
		p.ellipse(point{x, y}, wide, s.units(2)+s.units(down)/90, 0)
	}
	s.fill(p, solid(s.light.fade(120)))
	s.sail()
}

// sail is a small boat on the far water.
func (s *scene) sail() {
	high := s.units(s.between(70, 130))
	foot := s.at(s.between(150, 850), horizon+40).plus(0, high/5)
	var hull, main, jib path
	hull.move(foot.plus(-high*4/10, -high/10))
	hull.quad(foot.plus(0, -high*6/100), foot.plus(high*5/10, -high*13/100))
	hull.quad(foot.plus(high*3/10, high/20), foot.plus(high*2/10, high/20))
	hull.line(foot.plus(-high*28/100, high/20))
	main.move(foot.plus(high*3/100, -high*18/100))
	main.line(foot.plus(high*3/100, -high))
	main.quad(foot.plus(high*36/100, -high*5/10), foot.plus(high*40/100, -high*18/100))
	jib.move(foot.plus(-high*2/100, -high*18/100))
	jib.line(foot.plus(-high*2/100, -high*88/100))
	jib.quad(foot.plus(-high*14/100, -high*45/100), foot.plus(-high*34/100, -high*18/100))
	var wake path
	wake.ellipse(foot.plus(0, high/15), high*6/10, high/30, 0)
	s.fill(wake, solid(s.light.fade(120)))
	s.fill(main, solid(mix(s.light, white, 128)))
	s.fill(jib, solid(s.warm))
	s.fill(hull, solid(mix(s.near, black, 80)))
}

// swell is a wave in front, with a light crest.
func swell(depth int64) layer {
	return func(s *scene) {
		phase := s.between(0, turn)
		long := s.units(300 + depth*110)
		base := s.down(760 + depth*85)
		high := s.units(13 + depth*7)
		height := func(x int64) int64 {
			return base + sine(phase+x*turn/long)*high>>16 + sine(phase*3+x*turn*10/(long*23))*high>>17
		}
		c := mix(mix(s.far, s.near, 110+depth*60), s.fresh, 30-depth*10)
		crest := func(x int64) int64 { return height(x) - s.units(3+depth) }
		s.fill(s.ridge(crest), solid(mix(c, s.sky[2], 130).fade(170)))
		s.fill(s.ridge(height), paint{[]tint{c, mix(c, s.near, 150)}, base, s.height})
	}
}
