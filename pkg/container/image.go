package container

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
)

// CheckImage refuses what names no image: a name with a tag or a digest, if any, or an id
// (github.com/distribution/reference).
func CheckImage(image string) error {
	_, err := reference.ParseAnyReference(image)
	return err
}

// HasImage returns the id of an image if the engine has it. It never pulls.
func (e *Engine) HasImage(ctx context.Context, image string) (id string, ok bool, err error) {
	found, err := e.api.ImageInspect(ctx, image)
	if errdefs.IsNotFound(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("look for image %s: %w", image, err)
	}
	return found.ID, true, nil
}

// image returns the id of c's image, after a pull where the policy wants one.
func (e *Engine) image(ctx context.Context, c Config, report func(string)) (id string, err error) {
	bad := func(why string, err error) error {
		return &ImageError{Image: c.Image, Pull: c.Pull, Why: why, Err: err}
	}
	if c.Pull != PullAlways || isImageID(c.Image) {
		id, ok, err := e.HasImage(ctx, c.Image)
		if errdefs.IsInvalidArgument(err) {
			return "", bad("this is no name of an image", err)
		}
		if err != nil || ok {
			return id, err
		}
	}
	if isImageID(c.Image) {
		return "", bad("the engine has no image with this id, and an id cannot be pulled", nil)
	}
	if c.Pull == PullNever {
		return "", bad("the engine does not have it; hint: docker pull "+c.Image, nil)
	}
	if err := e.pull(ctx, c, report); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("pull image %s: %w", c.Image, ctx.Err())
		}
		return "", bad(whyNoPull(c, err), err)
	}
	id, ok, err := e.HasImage(ctx, c.Image)
	if err == nil && !ok {
		err = bad("it was pulled, and then the engine did not have it", nil)
	}
	return id, err
}

// imageID matches what names an image by its content: the whole id, or at least the twelve
// digits that the Docker command line shows.
var imageID = regexp.MustCompile(`^(sha256:[0-9a-f]{64}|[0-9a-f]{12,64})$`)

func isImageID(image string) bool { return imageID.MatchString(image) }

// whyNoPull says for the model why a pull failed. Engines give registries' errors as text
// only.
func whyNoPull(c Config, err error) string {
	text := strings.ToLower(err.Error())
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.Is(err, errPullTimeout):
		return fmt.Sprintf("it is not here, and pulling it took more than %s", c.PullTimeout)
	case has("denied", "unauthorized", "authentication required", "no basic auth"):
		return "it is not here, and the registry gives it to nobody without a login, or does not have it; pulls are made without one; hint: docker pull " + c.Image
	case has("manifest unknown", "not found", "no such image"):
		return "it is not here, and the registry does not have it"
	case has("no matching manifest"):
		return "it is not here, and the registry does not have it for this kind of machine"
	case has("invalid reference", "repository name must"):
		return "this is no name of an image"
	}
	if c.Pull == PullAlways {
		return "it could not be pulled: " + engineSays(err)
	}
	return "it is not here and could not be pulled: " + engineSays(err)
}
