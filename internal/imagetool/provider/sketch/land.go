package sketch

// sky is the gradient behind everything.
func sky(s *scene) {
	if !s.clear {
		s.fill(s.all(), paint{s.sky[:], 0, s.height * 66 / 100})
	}
}

// disc is the sun, or the moon at night, with its light in the air around it.
func disc(s *scene) {
	if s.mood == "night" {
		stars(s)
		moon(s)
		return
	}
	r := s.units(s.between(55, 95))
	if !s.clear {
		s.glow(s.sun, r*8, s.light.fade(110))
		s.glow(s.sun, r*3, s.light.fade(130))
	}
	s.fill(circle(s.sun, r), solid(s.light))
}

func moon(s *scene) {
	r := s.units(s.between(70, 120))
	if !s.clear {
		s.glow(s.sun, r*6, s.light.fade(70))
		s.glow(s.sun, r*2, s.light.fade(90))
	}
	s.fill(circle(s.sun, r), solid(s.light))
	var spots path
	for range 5 {
		spots.circle(s.sun.around(s.between(0, turn), s.between(0, r*6/10)), s.between(r/10, r/4))
	}
	s.fill(spots, solid(mix(s.light, s.sky[1], 60).fade(110)))
}

// stars are many small discs and a few larger ones.
func stars(s *scene) {
	var small, large path
	for range 60 + s.below(90) {
		small.circle(s.at(s.between(0, 1000), s.between(0, 700)), max(s.between(90, 150)*s.unit/100000, pixel/3))
	}
	for range 12 {
		large.circle(s.at(s.between(0, 1000), s.between(0, 600)), max(s.between(190, 330)*s.unit/100000, pixel/2))
	}
	s.fill(small, solid(s.light.fade(150)))
	s.fill(large, solid(s.light.fade(230)))
}

// clouds are flat below and round above.
func clouds(s *scene) {
	if s.clear {
		return
	}
	n := int64(2 + s.below(3))
	for i := range n {
		at := s.at((1000*i+s.between(100, 900))/n, s.between(90, 400))
		size := s.units(s.between(26, 62))
		base := at.y + size
		p := rounded(point{at.x - size*3, base - size}, point{at.x + size*3, base}, size/2)
		for i := range int64(3) {
			r := size * (s.between(80, 110) + 35*(i&1)) / 100
			p.circle(at.plus((i-1)*size*14/10, s.between(-20, 20)*size/100), r)
		}
		c := mix(s.sky[2], white, 120)
		s.fill(p.above(base), paint{[]tint{c.fade(190), c.fade(90)}, at.y - size, base})
	}
}

// above cuts what lies below a height off p, by pressing it flat.
func (p path) above(y int64) path {
	for _, outline := range p {
		for i := range outline {
			outline[i].y = min(outline[i].y, y)
		}
	}
	return p
}

// down is a height by thousandths, of which an upright picture has more sky above.
func (s *scene) down(n int64) int64 {
	return s.height - min(s.height, s.unit*16/10)*(1000-n)/1000
}

// ridge is land below a line; its height is taken at every 1/400 of the smaller side.
func (s *scene) ridge(height func(x int64) int64) path {
	step := max(s.unit/400, pixel)
	p := path{{{-step, s.height}}}
	for x := -step; x <= s.width+step; x += step {
		p.line(point{x, height(x)})
	}
	p.line(point{s.width + step, s.height})
	return p
}

// haze returns the paint of land: depth 0 lies far away, last at our feet.
func (s *scene) haze(depth, last, top int64) paint {
	c := mix(s.far, s.near, depth*256/last)
	foot := mix(c, s.sky[2], 90-depth*70/last)
	return paint{[]tint{c, foot}, top, s.height}
}

func hills(depth int64) layer {
	return func(s *scene) {
		line, fine := noise(s.next()), noise(s.next())
		scale := s.units(620 - depth*60)
		base := s.down(520 + depth*115)
		high := s.units(190 - depth*15)
		height := func(x int64) int64 {
			return base - line.at(x*pixel/scale)*high>>16 - fine.at(x*pixel*3/scale)*high>>18 + high/2
		}
		s.fill(s.ridge(height), s.haze(depth, 3, base-high/2))
		x := s.width * s.between(200, 800) / 1000
		s.spot = point{x, height(x)}
		s.trees(height, depth)
	}
}

// trees are round and stand in groups on a hill; farther ones are smaller.
func (s *scene) trees(height func(int64) int64, depth int64) {
	var crowns, trunks path
	size := s.units(8 + depth*9)
	for range 2 + s.below(3) {
		x := s.width * s.between(0, 1000) / 1000
		for range 1 + s.below(5) {
			x += size * s.between(6, 20) / 10
			foot := point{x, height(x) + size/4}
			r := size * s.between(70, 120) / 100
			crowns.ellipse(foot.plus(0, -r*2), r*8/10, r*12/10, 0)
			trunks.box(foot.plus(-r/10, -r*3/2), foot.plus(r/10, 0))
		}
	}
	c := mix(s.far, s.near, (depth*256+200)/4)
	s.fill(trunks, solid(mix(c, black, 60)))
	s.fill(crowns, solid(mix(c, s.fresh, 40-depth*8)))
}

// meadow is strewn with flowers where it is near.
func meadow(s *scene) {
	for _, c := range []tint{s.warm, s.fresh, s.light} {
		var p path
		for range 50 {
			y := s.between(900, 1000)
			p.circle(point{s.width * s.between(0, 1000) / 1000, s.down(y)}, s.units(1)+s.units(y-880)/45)
		}
		s.fill(p, solid(c.fade(210)))
	}
}

func peaks(depth int64) layer {
	return func(s *scene) {
		big, mid, small := noise(s.next()), noise(s.next()), noise(s.next())
		scale := s.units(230 - depth*25)
		base := s.down(600 + depth*110)
		high := s.units(400 - depth*75)
		height := func(x int64) int64 {
			h := big.peaked(x*pixel/scale)*8 + mid.edged(x*pixel*4/scale)*3 + small.edged(x*pixel*13/scale)
			return base - (h/12)*high>>16 + high/4
		}
		s.fill(s.ridge(height), s.haze(depth, 3, base-high*3/4))
		if depth < 2 || s.mood == "winter" {
			s.caps(height, base-high*28/100, high/4)
		}
		x := s.width * s.between(200, 800) / 1000
		s.spot = point{x, height(x)}
	}
}

// caps are snow on what is higher than a line, deeper in the wrinkles.
func (s *scene) caps(height func(int64) int64, line, deep int64) {
	wrinkle := noise(s.next())
	step := max(s.unit/400, pixel)
	var upper, lower []point
	for x := -step; x <= s.width+step; x += step {
		y := height(x)
		snow := max(line-y, 0) * (20000 + wrinkle.edged(x*pixel/max(s.unit/45, 1))) >> 16
		upper = append(upper, point{x, y})
		lower = append(lower, point{x, y + min(snow, deep*2)})
	}
	p := path{upper}
	for i := len(lower) - 1; i >= 0; i-- {
		p.line(lower[i])
	}
	s.fill(p, solid(mix(white, s.sky[2], 70).fade(190)))
}

// fir appends a fir tree of some height.
func (p *path) fir(foot point, high int64) {
	p.box(foot.plus(-high/30, -high/5), foot)
	for i := range int64(4) {
		half := high * (24 - i*5) / 100
		top := foot.plus(0, -high*(46+i*18)/100)
		y := foot.y - high*(12+i*20)/100
		p.move(top)
		p.line(point{foot.x + half, y}, point{foot.x, y - high/40}, point{foot.x - half, y})
	}
}

// firs stand along the lower edge.
func firs(s *scene) {
	var p path
	for x := -s.units(20); x < s.width+s.units(20); x += s.units(s.between(14, 40)) {
		p.fir(point{x, s.height + s.units(30)}, s.units(s.between(80, 190)))
	}
	s.fill(p, solid(mix(s.near, black, 70)))
}

// grove is a row of firs with mist at their feet.
func grove(depth int64) layer {
	return func(s *scene) {
		line := noise(s.next())
		base := s.down(600 + depth*130)
		height := func(x int64) int64 { return base - line.at(x*pixel/s.units(500))*s.units(90)>>16 }
		c := mix(s.far, s.near, depth*256/3)
		if s.mood == "autumn" {
			c = mix(c, pick(s.random, []tint{s.warm, s.fresh}), 110-depth*20)
		}
		p := s.ridge(height)
		tall := 150 + depth*75
		for x := -s.units(40); x < s.width+s.units(40); x += s.units(s.between(tall/9, tall/4)) {
			high := s.units(tall * s.between(60, 120) / 100)
			p.fir(point{x, height(x) + high*19/100}, high)
		}
		s.fill(p, solid(c))
		if depth < 3 && !s.clear {
			mist := mix(c, s.sky[2], 190)
			s.fill(s.ridge(height), paint{[]tint{mist.fade(0), mist.fade(200)}, base - s.units(60), base + s.units(130)})
		}
	}
}

// dunes are smooth, with a shaded side.
func dunes(depth int64) layer {
	return func(s *scene) {
		line := noise(s.next())
		scale := s.units(760 - depth*90)
		base := s.down(560 + depth*110)
		high := s.units(220 - depth*10)
		height := func(x int64) int64 { return base - line.at(x*pixel/scale)*high>>16 + high/3 }
		c := mix(mix(s.far, s.sky[2], 70), mix(s.far, s.near, 170), depth*256/3)
		s.fill(s.ridge(height), paint{[]tint{mix(c, s.light, 70), mix(c, s.near, 90)}, base - high*2/3, base + high})
		lee := func(x int64) int64 { return height(x) + max(height(x)-height(x-scale/5), 0)*2/3 }
		slope := append(s.ridge(height)[0], point{s.width, s.height})
		for i := len(slope) - 1; i >= 0; i-- { // back along the foot of the shadow
			slope = append(slope, point{slope[i].x, lee(slope[i].x)})
		}
		s.fill(path{slope}, solid(mix(c, s.near, 120).fade(90)))
		x := s.width * s.between(200, 800) / 1000
		s.spot = point{x, height(x)}
	}
}

func cacti(s *scene) {
	var p path
	for range 2 + s.below(2) {
		foot := point{s.width * s.between(80, 920) / 1000, s.down(s.between(800, 900))}
		high := s.units(s.between(120, 220))
		w := high / 8
		p = append(p, rounded(foot.plus(-w, -high), foot.plus(w, w*2), w)...)
		for _, side := range []int64{-1, 1} {
			y := -high * s.between(35, 60) / 100
			up := high * s.between(20, 35) / 100
			a, b := foot.plus(side*w*3-w*6/10, y-up), foot.plus(side*w*3+w*6/10, y+w)
			p = append(p, rounded(a, b, w)...)
			c, d := foot.plus(min(side*w*3, 0), y-w*3/10), foot.plus(max(side*w*3, 0), y+w)
			p = append(p, rounded(c, d, w/2)...)
		}
	}
	s.fill(p, solid(mix(s.near, s.fresh, 190)))
}
