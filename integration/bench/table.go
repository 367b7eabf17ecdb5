package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A measure is one row of the table.
type measure struct {
	name   string
	value  func(*subject) float64
	format string
	ratio  bool   // compare with the first subject
	target string // for mcp-files; empty: none
}

func measures(calls int) []measure {
	return []measure{
		{"start to tools/list, ms", func(s *subject) float64 { return ms(median(s.started)) }, "%.1f", true, "ratio <= 2.0"},
		{"CPU a call, µs", func(s *subject) float64 { return 1000 * ms(s.perCall(calls)) }, "%.0f", true, ""},
		{"idle RSS, MB", func(s *subject) float64 { return float64(median(s.rss)) / 1e6 }, "%.1f", true, "<= 20 MB"},
		{"tools/list answer, bytes", func(s *subject) float64 { return float64(s.listing) }, "%.0f", false, "<= 8192"},
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// table prints a row a measure: values, and in brackets the ratio to the first subject.
func table(out io.Writer, all []*subject, calls int) error {
	rows := [][]string{{"median of"}, {"---"}}
	for _, s := range all {
		rows[0] = append(rows[0], s.name)
		rows[1] = append(rows[1], "---")
	}
	rows[0], rows[1] = append(rows[0], "target"), append(rows[1], "---")
	for _, m := range measures(calls) {
		rows = append(rows, m.row(all))
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(out, "| %s |\n", strings.Join(r, " | ")); err != nil {
			return err
		}
	}
	return nil
}

func (m measure) row(all []*subject) []string {
	row := []string{m.name}
	base := m.value(all[0])
	for i, s := range all {
		v := m.value(s)
		cell := fmt.Sprintf(m.format, v)
		if m.ratio && i > 0 && base > 0 {
			cell += fmt.Sprintf(" (%.2f)", v/base)
		}
		row = append(row, cell)
	}
	return append(row, m.target)
}
