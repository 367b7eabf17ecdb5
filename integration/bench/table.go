package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/integration/load"
)

// A measure is one row of the table.
type measure struct {
	name   string
	value  func(*subject) float64
	format string
	calls  bool   // of calls
	ratio  bool   // compare with the first subject
	target string // for our servers; empty: none
}

func measures(calls int) []measure {
	return []measure{
		{"start to tools/list, ms", func(s *subject) float64 { return ms(median(s.started)) }, "%.1f", false, true, "ratio <= 2.0"},
		{"CPU a call, µs", func(s *subject) float64 { return s.perCall(s.working, calls) }, "%.0f", true, true, "100 rules <= 1.5"},
		{"the same over HTTP, in a session", func(s *subject) float64 { return s.perCall(s.figures[load.Legacy].working, calls) }, "%.0f", true, true, "fixture <= 1.25"},
		{"the same over HTTP, without", func(s *subject) float64 { return s.perCall(s.figures[load.Modern].working, calls) }, "%.0f", true, true, "fixture <= 1.25"},
		{"idle RSS, MB", func(s *subject) float64 { return float64(median(s.rss)) / 1e6 }, "%.1f", false, true, "<= 20 MB"},
		{"tools/list answer, bytes", func(s *subject) float64 { return float64(s.listing) }, "%.0f", false, false, "<= 8192"},
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// costs prints a row a measure: values, and in brackets the ratio to the subject that it is compared with.
func costs(out io.Writer, all []*subject, calls int) error {
	rows := [][]string{append(head("median of", all), "target")}
	for _, m := range measures(calls) {
		rows = append(rows, m.row(all))
	}
	return table(out, rows)
}

// latencies prints a row a crowd: the median and the 99th percentile of one call.
func latencies(out io.Writer, all []*subject) error {
	rows := [][]string{head("p50 / p99 of a call, ms", all)}
	for i, kind := range []string{"in sessions", "without sessions"} {
		for _, n := range crowds {
			row := []string{fmt.Sprintf("%d %s", n, kind)}
			for _, s := range all {
				f := s.figures[versions[i]]
				row = append(row, fmt.Sprintf("%.2f / %.1f", ms(median(f.p50[n])), ms(median(f.p99[n]))))
			}
			rows = append(rows, row)
		}
	}
	return table(out, rows)
}

func head(what string, all []*subject) []string {
	row := []string{what}
	for _, s := range all {
		row = append(row, s.name)
	}
	return row
}

// table prints rows, the first of which is the head.
func table(out io.Writer, rows [][]string) error {
	rule := slices.Repeat([]string{"---"}, len(rows[0]))
	for _, r := range slices.Insert(rows, 1, rule) {
		if _, err := fmt.Fprintf(out, "| %s |\n", strings.Join(r, " | ")); err != nil {
			return err
		}
	}
	return nil
}

func (m measure) row(all []*subject) []string {
	row := []string{m.name}
	for i, s := range all {
		if m.calls && s.tool == "" {
			row = append(row, "")
			continue
		}
		base, v := m.value(all[s.beside]), m.value(s)
		cell := fmt.Sprintf(m.format, v)
		if m.ratio && i > 0 && base > 0 {
			cell += fmt.Sprintf(" (%.2f)", v/base)
		}
		row = append(row, cell)
	}
	return append(row, m.target)
}
