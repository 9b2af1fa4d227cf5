package docs

import (
	"net/http"
	"strings"
)

// Base is where the service listens unless told otherwise; the script of the pages puts the address they were served from there.
const Base = "http://127.0.0.1:8080"

// Sample is an example request in one language.
type Sample struct{ Language, Label, Text string }

// samples writes an example in all languages.
func samples(e Example) []Sample {
	out := []Sample{{"curl", "curl", curl(e)}}
	if e.Go != "" {
		out = append(out, Sample{"go", "Go", e.Go})
	}
	return append(out, Sample{"ts", "TypeScript", typescript(e)})
}

// curl writes an example as a command that runs as it stands.
func curl(e Example) string {
	command := "curl"
	if e.Method != http.MethodGet {
		command += " -X " + e.Method
	}
	credential := map[string]string{"": `-H "X-API-Key: $BURSAR_API_KEY"`, BeginsSession: "-c cookies.txt", UsesSession: "-b cookies.txt"}
	words := []string{command + " '" + Base + e.Path + "'", credential[e.Session]}
	if e.Key {
		words = append(words, `-H "Idempotency-Key: $(openssl rand -hex 16)"`)
	}
	if e.Body != nil {
		body := strings.NewReplacer("'", `'\''`, "\n", "\n  ").Replace(pretty(e.Body))
		words = append(words, "-H 'Content-Type: application/json'", "-d '"+body+"'")
	}
	for _, p := range e.Form {
		words = append(words, "-F "+p.Name+"="+p.Value)
	}
	return strings.Join(words, " \\\n  ")
}

// typescript writes an example with fetch.
func typescript(e Example) string {
	var b strings.Builder
	write := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
		}
	}
	if len(e.Form) > 0 {
		write("const form = new FormData();\n")
	}
	for _, p := range e.Form {
		value := `"` + p.Value + `"`
		if name, ok := strings.CutPrefix(p.Value, "@"); ok {
			value = `new Blob([await readFile("` + name + `")]), "` + name + `"`
		}
		write(`form.append("`, p.Name, `", `, value, ");\n")
	}
	write(`const response = await fetch("`, Base, e.Path, "\", {\n")
	if e.Method != http.MethodGet {
		write(`  method: "`, e.Method, "\",\n")
	}
	if e.Session == "" {
		write("  headers: {\n    \"X-API-Key\": process.env.BURSAR_API_KEY!,\n")
	} else {
		write("  credentials: \"same-origin\",\n  headers: {\n")
	}
	if e.Key {
		write("    \"Idempotency-Key\": crypto.randomUUID(),\n")
	}
	if e.Body != nil {
		write("    \"Content-Type\": \"application/json\",\n")
	}
	write("  },\n")
	switch {
	case e.Body != nil:
		write("  body: JSON.stringify(", strings.ReplaceAll(pretty(e.Body), "\n", "\n  "), "),\n")
	case len(e.Form) > 0:
		write("  body: form,\n")
	}
	write("});\nif (!response.ok) throw new Error(await response.text());")
	if e.Answer != nil {
		write("\nconst answer = await response.json();")
	}
	return b.String()
}
