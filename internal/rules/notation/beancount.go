package notation
func newBeancountForm() form {return nil}
func readBeancount(src *source, out *output) error {return nil}
func newCSVForm() form {return nil}
func readCSV(src *source, out *output) error {return nil}
