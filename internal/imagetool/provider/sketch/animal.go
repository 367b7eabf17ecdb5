package sketch

// birds are a few strokes in the sky.
func birds(s *scene) {
	var p path
	at := s.at(s.between(200, 800), s.between(150, 330))
	for range 3 + s.below(4) {
		b := at.plus(s.units(s.between(-130, 130)), s.units(s.between(-70, 70)))
		w := s.units(s.between(12, 24))
		for _, side := range []int64{-1, 1} {
			p.move(b)
			p.quad(b.plus(side*w/2, -w*8/10), b.plus(side*w, -w*3/10))
			p.quad(b.plus(side*w/2, -w*6/10), b.plus(0, w/5))
		}
	}
	s.fill(p, solid(mix(s.near, s.sky[1], 40)))
}

// cat sits on the hill and looks at the moon.
func cat(s *scene) {
	size := s.units(330)
	foot := s.spot.plus(0, size/12)
	at := func(x, y int64) point { return foot.plus(x*size/1000, -y*size/1000) }
	var body path
	body.move(at(-210, 0))
	body.cube(at(-290, 260), at(-160, 430), at(-110, 560))
	body.cube(at(-170, 600), at(-180, 690), at(-150, 760))
	body.line(at(-155, 910))
	body.quad(at(-110, 890), at(-55, 830))
	body.quad(at(0, 845), at(55, 830))
	body.quad(at(110, 890), at(155, 910))
	body.line(at(150, 760))
	body.cube(at(180, 690), at(170, 600), at(110, 560))
	body.cube(at(160, 430), at(290, 260), at(210, 0))
	body.cube(at(200, -70), at(-200, -70), at(-210, 0))
	var tail path
	tail.move(at(150, 40))
	tail.cube(at(420, -40), at(520, 160), at(430, 330))
	tail.quad(at(390, 400), at(450, 450))
	c := mix(s.near, black, 110)
	s.fill(stroke(tail[0], size/11, 90), solid(c))
	s.fill(circle(tail.end(), size/36), solid(c))
	s.fill(body, solid(c))
	var ears path
	for _, side := range []int64{-1, 1} {
		ears.move(at(side*140, 880))
		ears.line(at(side*135, 800), at(side*85, 840))
	}
	s.fill(ears, solid(mix(s.warm, c, 120)))
}

// snow falls.
func snow(s *scene) {
	for _, large := range []int64{2, 4, 6} {
		var p path
		for range 70 / large * 2 {
			p.circle(s.at(s.between(0, 1000), s.between(0, 1000)), max(s.units(large)*s.between(60, 120)/100, pixel/2))
		}
		s.fill(p, solid(white.fade(uint8(90+large*20))))
	}
}

// balloon is one of hot air, on some days.
func balloon(s *scene) {
	if s.mood == "night" || s.chance(40) {
		return
	}
	r := s.units(s.between(45, 75))
	at := s.at(s.between(150, 850), s.between(150, 330))
	if d := at.x - s.sun.x; max(d, -d) < r*3 {
		at.x += r * 4
	}
	for i, half := range []int64{100, 62, 22} {
		c := []tint{s.warm, mix(s.light, white, 100), s.warm}[i]
		var p path
		p.move(at.plus(0, -r))
		p.cube(at.plus(r*half*135/10000, -r), at.plus(r*half*135/10000, r*6/10), at.plus(r*(8+half/10)/100, r*14/10))
		p.line(at.plus(-r*(8+half/10)/100, r*14/10))
		p.cube(at.plus(-r*half*135/10000, r*6/10), at.plus(-r*half*135/10000, -r), at.plus(0, -r))
		s.fill(p, paint{[]tint{c, mix(c, s.near, 70)}, at.y - r, at.y + r*2})
	}
	var ropes path
	for _, side := range []int64{-1, 1} {
		ropes = append(ropes, stroke([]point{at.plus(side*r*16/100, r*14/10), at.plus(side*r*10/100, r*18/10)}, max(r/40, pixel/2), 0)...)
	}
	s.fill(ropes, solid(s.near))
	s.fill(rounded(at.plus(-r*14/100, r*175/100), at.plus(r*14/100, r*2), r/12), solid(mix(s.near, s.warm, 60)))
}
