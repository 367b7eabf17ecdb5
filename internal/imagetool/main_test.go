package imagetool_test

import (
	"testing"

	"github.com/toolhost/toolhost/internal/testleak"
)

func TestMain(m *testing.M) { testleak.Main(m) }
