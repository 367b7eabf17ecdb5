package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// How deep an answer is looked at: what a person decided is in its action, and in the members of
// its content.
const answerLevels = 2

// deciding are the keys of an answer that say what a person decided (MCP 2026-07-28,
// client/elicitation).
var deciding = []string{"action", "content"}

// answerFault says why an answer to a question of ours can be read in two ways, or returns "". Of a
// key that is there twice, or spelt in two ways, a client's log may show the one that says no, and
// the SDK take the other (CVE-2026-27896).
func answerFault(answer []byte) string {
	if key := twiceWithin(answer, answerLevels); key != "" {
		return fmt.Sprintf("the key %s is given twice in an answer: give it once", key)
	}
	return misspelt(answer)
}

// answersFault is answerFault for the inputResponses of a request, an object of answers.
func answersFault(answers []byte) (fault string) {
	if len(answers) == 0 || answers[0] != '{' {
		return ""
	}
	twice := members(answers, func(_ string, answer []byte) {
		fault = cmp.Or(fault, answerFault(answer))
	})
	if twice != "" {
		return fmt.Sprintf("the key %s is given twice in inputResponses: give it once", twice)
	}
	return fault
}

// twiceWithin returns a key, quoted to be shown, that an object has twice, or an object in it.
func twiceWithin(value []byte, levels int) (inner string) {
	if levels == 0 || len(value) == 0 || value[0] != '{' {
		return ""
	}
	twice := members(value, func(_ string, v []byte) {
		inner = cmp.Or(inner, twiceWithin(v, levels-1))
	})
	return cmp.Or(twice, inner)
}

// misspelt says which key of an answer only readers that ignore case would understand.
func misspelt(answer []byte) (fault string) {
	if len(answer) == 0 || answer[0] != '{' {
		return ""
	}
	members(answer, func(key string, _ []byte) {
		i := slices.IndexFunc(deciding, func(d string) bool { return d != key && strings.EqualFold(d, key) })
		if i >= 0 && fault == "" {
			fault = fmt.Sprintf("the key %s in an answer has to be written %q", show(key), deciding[i])
		}
	})
	return fault
}
