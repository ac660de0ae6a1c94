package optstr

import (
	"encoding/json"
	"strings"
)

// Set returns the edits that give a key a value. types tells how JSON writes the value where the key is not there yet.
// Every pair of the key is changed, so that no other one can count.
func (o Options) Set(key, value string, t Type) []Edit {
	var out []Edit
	found := false
	for _, p := range o.Pairs {
		switch {
		case p.Key != key || p.ReadOnly:
		case p.Flag:
			found = true
			out = append(out, Edit{p.Start, p.End, key + "=" + escape(value)})
		default:
			found = true
			out = append(out, Edit{p.From, p.To, o.encode(value, p.Type, t)})
		}
	}
	if found {
		return out
	}
	if o.JSON {
		return o.insert(key, o.encode(value, t, t))
	}
	return []Edit{o.Append(key, value)}
}

// Append returns the edit that writes a key at the end, where it overrides every other one. It is for strings only.
func (o Options) Append(key, value string) Edit {
	sep := ","
	if o.Text == "" || strings.HasSuffix(o.Text, ",") && !strings.HasSuffix(o.Text, ",,") {
		sep = ""
	}
	return Edit{len(o.Text), len(o.Text), sep + key + "=" + escape(value)}
}

// insert puts a key into the innermost object that there is for it.
func (o Options) insert(key, value string) []Edit {
	prefix := key
	for {
		i := strings.LastIndexByte(prefix, '.')
		prefix = prefix[:max(i, 0)]
		if obj, ok := o.objects[prefix]; ok {
			rest := key
			if prefix != "" {
				rest = key[len(prefix)+1:]
			}
			parts := strings.Split(rest, ".")
			text := value
			for j := len(parts) - 1; j >= 0; j-- {
				text = quote(parts[j]) + ":" + text
				if j > 0 {
					text = "{" + text + "}"
				}
			}
			if !obj.empty {
				text = "," + text
			}
			return []Edit{{obj.end, obj.end, text}}
		}
		if prefix == "" {
			return nil
		}
	}
}

// Drop returns the edits that take a key out, with the comma that separates it.
func (o Options) Drop(key string) []Edit {
	var out []Edit
	for i, p := range o.Pairs {
		if p.Key != key || p.ReadOnly {
			continue
		}
		from, to := p.Start, p.End
		switch before := strings.TrimRight(o.Text[:from], " \t\r\n"); {
		case strings.HasSuffix(before, ","):
			from = len(before) - 1
		case i+1 < len(o.Pairs) || strings.HasPrefix(o.Text[to:], ","):
			if c := strings.IndexByte(o.Text[to:], ','); c >= 0 && strings.TrimSpace(o.Text[to:to+c]) == "" {
				to += c + 1
			}
		}
		out = append(out, Edit{from, to, ""})
	}
	return out
}

// encode writes a value as the text has its values. was is the type of the value that is there.
func (o Options) encode(value string, was, want Type) string {
	if !o.JSON {
		return escape(value)
	}
	if was == Null || was == String && want != String {
		was = want
	}
	switch was {
	case Bool:
		if value == "on" || value == "true" {
			return "true"
		}
		return "false"
	case Number:
		return value
	}
	return quote(value)
}

func escape(value string) string { return strings.ReplaceAll(value, ",", ",,") }

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""` // no string fails
	}
	return strings.TrimSuffix(b.String(), "\n")
}
