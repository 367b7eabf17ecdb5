package sketch

// blocks is a row of houses; windows are lit in the nearer ones.
func blocks(depth int64) layer {
	return func(s *scene) {
		c := mix(mix(s.far, s.sky[2], 60), s.near, depth*128)
		var houses, lit, cool path
		for x := -s.units(s.between(0, 60)); x < s.width; {
			wide := s.units(s.between(60, 120) + depth*20)
			high := s.units(s.between(150, 520) - depth*90)
			top := s.height*(900+depth*30)/1000 - high
			from, to := point{x, top}, point{x + wide, s.height}
			houses.box(from, to)
			s.roof(&houses, from, wide)
			if depth > 0 {
				s.windows(&lit, &cool, from, wide)
			}
			x += wide + s.units(s.between(0, 14)-4)
		}
		s.fill(houses, paint{[]tint{c, mix(c, s.sky[2], 80-depth*30)}, s.height / 3, s.height})
		s.fill(lit, solid(s.warm.fade(uint8(130+depth*50))))
		s.fill(cool, solid(s.light.fade(uint8(110+depth*50))))
	}
}

// roof ends a house: flat, stepped, pointed, or with a mast.
func (s *scene) roof(p *path, at point, wide int64) {
	switch s.below(5) {
	case 0:
		p.box(at.plus(wide/4, -wide/5), at.plus(wide*3/4, 0))
	case 1:
		p.move(at)
		p.line(at.plus(wide/2, -wide/3), at.plus(wide, 0))
	case 2:
		mast := max(wide/40, pixel/2)
		p.box(at.plus(wide/3, -wide/8), at.plus(wide*2/3, 0))
		p.box(at.plus(wide/2-mast, -wide*2/3), at.plus(wide/2+mast, 0))
	}
}

func (s *scene) windows(lit, cool *path, from point, wide int64) {
	columns := 3 + s.below(3)
	cell := wide / int64(columns*2+1)
	if cell < pixel/2 {
		return
	}
	for y := from.y + cell*2; y < s.height-cell*2; y += cell * 3 {
		for i := range int64(columns) {
			to := lit
			switch n := s.below(100); {
			case n < 55:
				continue
			case n > 88:
				to = cool
			}
			at := point{from.x + cell*(2*i+1), y}
			to.box(at, at.plus(cell, cell*16/10))
		}
	}
}
