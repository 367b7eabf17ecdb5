package sketch_test

import (
	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

type golden struct {
	request provider.Request
	sum     string
}

// goldens are of PNG, and one of WebP, which is written here; JPEG is not promised.
func goldens() map[string]golden {
	seed := int64(7)
	return map[string]golden{
		"1024x1024":   {ask("a small harbour at sunset", 1024, 1024), "362ec6178c76648066d7247243fbd75555cace1080152705a2817be16918a87e"},
		"mountains":   {ask("Mountains in winter, 山", 800, 450), "f6653a357f5a04eb1f968163180b8756269a98ea8e4ae2a3481b6d500cc87cd2"},
		"no word":     {ask("something else", 512, 768), "566fd0a2c3dea089e3140c4471929db3681d33e2b104265679666d2c7a734014"},
		"seed":        {provider.Request{Prompt: "something else", Seed: &seed, Size: provider.Size{Width: 512, Height: 768}}, "0bbe1c444ec6419e4a488d2691b56fbcb1fb111812aa8128d3b59de34f736a0d"},
		"transparent": {provider.Request{Prompt: "red flowers", Background: "transparent", Size: provider.Size{Width: 400, Height: 400}}, "41c9c7d0442586d695019fcd4456c76880acc065a27a801910e0351572fa6ab1"},
		"webp":        {provider.Request{Prompt: "the city at night", Format: provider.WebP, Size: provider.Size{Width: 640, Height: 360}}, "ff7fcc305add0163278604888d986146fa97584d26387e41e4126cfa15e5e014"},
		"space":       {ask("a planet with rings", 640, 640), "f0e5a564f95200e591a03d585ef50345e67af14d976f934fc04bfcd486635467"},
		"cat":         {ask("my cat", 320, 480), "b4fe8c357fd24aff06d732304d195f5b7962cf51bab2749319e522998838691e"},
		"tiny":        {ask("desert", 16, 16), "7890066188c78e3e84aa78def309110d4c74fba8e4e7e6ad3f7ea6dcdff812a1"},
	}
}
