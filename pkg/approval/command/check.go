package command

import "errors"

// Check returns what cannot be meant, and how to mend it.
func (r Rule) Check() error {
	if len(r.Pattern.Argv) == 0 {
		return errors.New("argv is empty: write the program's name, such as [ls]")
	}
	return nil
}
