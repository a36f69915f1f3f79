package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// schema is the part of JSON Schema that tools need.
type schema struct {
	Type        string     `json:"type,omitempty"` // empty: anything
	Description string     `json:"description,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Minimum     *float64   `json:"minimum,omitempty"`
	Maximum     *float64   `json:"maximum,omitempty"`
	Items       *schema    `json:"items,omitempty"`
	Properties  properties `json:"properties,omitzero"` // of a struct; not nil there
	Required    []string   `json:"required,omitempty"`
	Additional  any        `json:"additionalProperties,omitempty"` // false for a struct; the *schema of a map's values
}

// properties keep the order of the fields they were made of, so that the bytes
// of a schema are always the same.
type properties []property

type property struct {
	name string
	*schema
}

func (p properties) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, prop := range p {
		data, err := json.Marshal(prop.schema)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", prop.name, data)
	}
	return []byte("{" + b.String() + "}"), nil
}

func (p properties) find(name string) *schema {
	for _, prop := range p {
		if prop.name == name {
			return prop.schema
		}
	}
	return nil
}

func (p properties) names() string {
	var names []string
	for _, prop := range p {
		names = append(names, prop.name)
	}
	return strings.Join(names, ", ")
}

// schemaFor derives the schema of a struct.
func schemaFor[In any]() *schema {
	t := reflect.TypeFor[In]()
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("tools: the arguments of a tool are a struct, not %s", t))
	}
	return schemaOf(t)
}

func schemaOf(t reflect.Type) *schema {
	if t == reflect.TypeFor[json.RawMessage]() {
		return &schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Interface:
		return &schema{}
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &schema{Type: "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &schema{Type: "integer", Minimum: new(0.0)}
	case reflect.Float32, reflect.Float64:
		return &schema{Type: "number"}
	case reflect.Slice:
		return &schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return &schema{Type: "object", Additional: schemaOf(t.Elem())}
		}
	case reflect.Struct:
		s := &schema{Type: "object", Properties: properties{}, Additional: false}
		for f := range t.Fields() {
			s.field(f)
		}
		return s
	}
	panic(fmt.Sprintf("tools: no argument can be a %s", t))
}

// field adds a field of a struct.
func (s *schema) field(f reflect.StructField) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case name == "-" || !f.IsExported() && !f.Anonymous:
		return
	case name == "" || f.Anonymous:
		panic(fmt.Sprintf("tools: field %s needs a name in its json tag", f.Name))
	}
	p := schemaOf(f.Type)
	p.Description = f.Tag.Get("doc")
	if list := f.Tag.Get("enum"); list != "" {
		p.Enum = strings.Split(list, ",")
	}
	if p.Enum != nil && p.Type != "string" {
		panic(fmt.Sprintf("tools: field %s: only text has an enum", f.Name))
	}
	p.Minimum = bound(f, "min", p.Minimum)
	p.Maximum = bound(f, "max", p.Maximum)
	s.Properties = append(s.Properties, property{name, p})
	if o := strings.Split(options, ","); !slices.Contains(o, "omitempty") && !slices.Contains(o, "omitzero") {
		s.Required = append(s.Required, name)
	}
}

// bound is the number in the field's tag.
func bound(f reflect.StructField, tag string, otherwise *float64) *float64 {
	text, ok := f.Tag.Lookup(tag)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("tools: field %s: %s is %q, not a number", f.Name, tag, text))
	}
	return &n
}
