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
		"1024x1024":   {ask("a small harbour at sunset", 1024, 1024), "3ae9b052986b6041d5267b080797dfb2cb34d5846656d82ef848d9327639bb4f"},
		"mountains":   {ask("Mountains in winter, 山", 800, 450), "25bba3fd85f736a263eca03db7f0d701a814cb800070af320f384ed5c1984058"},
		"no word":     {ask("something else", 512, 768), "37de85e812d516add9c1ed2ca136e70056f65f0ab4f2b8ded96a23461e6a9f56"},
		"seed":        {provider.Request{Prompt: "something else", Seed: &seed, Size: provider.Size{Width: 512, Height: 768}}, "70aa1370669516df228687695ff1dd1021045dc427be36d65de5322f0a68c9b8"},
		"transparent": {provider.Request{Prompt: "red flowers", Background: "transparent", Size: provider.Size{Width: 400, Height: 400}}, "6a65b92c86108aa9b13434c2508584317e441fd11205cb0a35a68a1953af6c62"},
		"webp":        {provider.Request{Prompt: "the city at night", Format: provider.WebP, Size: provider.Size{Width: 640, Height: 360}}, "aa1f72dc4212f5153964cf767d419bd5c400b5321efa75c78112f0a1377be199"},
		"space":       {ask("a planet with rings", 640, 640), "6d8bc88c20ffd47360faf14af2a23b7d1694e57806138f202442cdb72e6bc458"},
		"cat":         {ask("my cat", 320, 480), "b2f6612a906b88c7902ddd6c266f50e1388db1b981a356dd78be656ed4579dcc"},
		"tiny":        {ask("desert", 16, 16), "c8edfe89e23ea6c3e3a4ec2f42004a82c69da101ee33ffeda03fb83d094803a8"},
	}
}
