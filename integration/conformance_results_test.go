package integration_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A finding is a check that did not pass. Its status is FAILURE, WARNING, or SKIPPED where
// the suite could not do it. Ids may come more than once in a scenario.
type finding struct {
	scenario, status, check string
	said                    string // by the suite, about this time; not compared
}

func (f finding) String() string { return f.scenario + " " + f.status + " " + f.check }

// A suiteResult is what a run of a suite left behind.
type suiteResult struct {
	scenarios []string
	passed    int // checks
	findings  []finding
}

// resultDir is a scenario's folder: its name, and when it ran.
var resultDir = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// readResults reads the folder that a suite wrote, of the scenarios that count.
func readResults(dir string, counts func(scenario string) bool) (r suiteResult, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return r, err
	}
	for _, e := range entries {
		name := resultDir.FindStringSubmatch(e.Name())
		if name == nil {
			return r, fmt.Errorf("results have a %s: want folders such as server-ping-2026-01-31T12-00-00-000Z", e.Name())
		}
		if !counts(name[1]) {
			continue
		}
		if err := r.add(name[1], filepath.Join(dir, e.Name(), "checks.json")); err != nil {
			return r, fmt.Errorf("results of %s: %w", name[1], err)
		}
	}
	if len(r.scenarios) == 0 {
		return r, errors.New("no results")
	}
	return r, nil
}

func (r *suiteResult) add(scenario, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var checks []struct{ ID, Status, ErrorMessage string }
	if err := json.Unmarshal(data, &checks); err != nil {
		return err
	}
	verdicts := 0
	for _, c := range checks {
		switch c.Status {
		case "INFO": // what was sent and received
			continue
		case "SUCCESS":
			r.passed++
		case "FAILURE", "WARNING", "SKIPPED":
			r.findings = append(r.findings, finding{scenario, c.Status, c.ID, c.ErrorMessage})
		default:
			return fmt.Errorf("check %s has the status %q", c.ID, c.Status)
		}
		verdicts++
	}
	if verdicts == 0 {
		return errors.New("no check came to a verdict")
	}
	r.scenarios = append(r.scenarios, scenario)
	return nil
}

// An excuse says of some checks of a scenario why they do not pass.
type excuse struct {
	scenario, status string
	checks           []string // one for each time that an id comes
	why              string
}

// compareFindings returns a line for each check that fails without an excuse, and for each
// excuse without need.
func compareFindings(found []finding, known []excuse) (complaints []string) {
	open := map[string]int{}
	for _, e := range known {
		for _, c := range e.checks {
			open[finding{scenario: e.scenario, status: e.status, check: c}.String()]++
		}
	}
	for _, f := range found {
		if open[f.String()] == 0 {
			complaints = append(complaints, fmt.Sprintf("%v: is not in the baseline: %s", f, f.said))
			continue
		}
		open[f.String()]--
	}
	for f, n := range open {
		for range n {
			complaints = append(complaints, f+": is in the baseline and does not happen")
		}
	}
	slices.Sort(complaints)
	return complaints
}

func TestConformanceCompare(t *testing.T) {
	known := []excuse{
		{scenario: "tasks", status: "FAILURE", checks: []string{"get", "cancel"}, why: "no tasks"},
		{scenario: "polling", status: "WARNING", checks: []string{"prime", "prime"}, why: "no store"},
	}
	asKnown := []string{"polling WARNING prime", "tasks FAILURE cancel", "tasks FAILURE get", "polling WARNING prime"}
	tests := map[string]struct {
		found []string
		want  []string
	}{
		"as known":              {asKnown, nil},
		"one more":              {append([]string{"ping FAILURE ping"}, asKnown...), []string{"ping FAILURE ping: is not in the baseline: no"}},
		"the same id once more": {append([]string{"polling WARNING prime"}, asKnown...), []string{"polling WARNING prime: is not in the baseline: no"}},
		"the same id once less": {asKnown[:3], []string{"polling WARNING prime: is in the baseline and does not happen"}},
		"in another scenario":   {append([]string{"tasks-2 FAILURE get"}, asKnown...), []string{"tasks-2 FAILURE get: is not in the baseline: no"}},
		"worse than known": {append([]string{"polling FAILURE prime"}, asKnown[1:]...), []string{
			"polling FAILURE prime: is not in the baseline: no",
			"polling WARNING prime: is in the baseline and does not happen",
		}},
		"all well": {nil, []string{
			"polling WARNING prime: is in the baseline and does not happen",
			"polling WARNING prime: is in the baseline and does not happen",
			"tasks FAILURE cancel: is in the baseline and does not happen",
			"tasks FAILURE get: is in the baseline and does not happen",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var found []finding
			for _, f := range test.found {
				words := strings.Fields(f)
				found = append(found, finding{words[0], words[1], words[2], "no"})
			}
			if diff := cmp.Diff(test.want, compareFindings(found, known)); diff != "" {
				t.Errorf("complaints (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConformanceReadResults(t *testing.T) {
	const ping, list = "server-ping-2026-01-31T12-00-00-000Z", "server-tools-list-2026-01-31T12-00-01-000Z"
	const passed = `[{"id":"ping","status":"SUCCESS"}]`
	tests := map[string]struct {
		files map[string]string // by folder; empty: the folder has none
		want  string            // the findings, or the error
	}{
		"all pass": {map[string]string{ping: passed, list: passed}, "2 scenarios, 2 passed: "},
		"one fails, and a note": {
			map[string]string{ping: `[{"id":"sent","status":"INFO"},{"id":"ping","status":"FAILURE","errorMessage":"no answer"}]`, list: passed},
			"2 scenarios, 1 passed: ping FAILURE ping",
		},
		"nothing":              {nil, "no results"},
		"a scenario broke off": {map[string]string{ping: passed, list: ""}, "no such file"},
		"no checks":            {map[string]string{ping: `[]`}, "no check came to a verdict"},
		"notes only":           {map[string]string{ping: `[{"id":"sent","status":"INFO"}]`}, "no check came to a verdict"},
		"a status of its own":  {map[string]string{ping: `[{"id":"ping","status":"PERHAPS"}]`}, `status "PERHAPS"`},
		"not JSON":             {map[string]string{ping: `[`}, "unexpected end"},
		"another folder":       {map[string]string{"results": passed}, "results have a results"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for folder, content := range test.files {
				writeChecks(t, filepath.Join(dir, folder), content)
			}
			r, err := readResults(dir, func(string) bool { return true })
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprintf("%d scenarios, %d passed: %s", len(r.scenarios), r.passed, strings.Trim(fmt.Sprint(r.findings), "[]"))
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("%s; want %s", got, test.want)
			}
		})
	}
}

func writeChecks(t *testing.T, dir, content string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if content == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "checks.json"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
