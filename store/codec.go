package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"
)

// A stored value is the schema version of its writer (one byte), the CRC32C of
// all else (four bytes, big-endian), and JSON. A newer release only adds
// fields at a row's top level, so that the release before it can read the row;
// when that one rewrites it, fields it does not know survive.

const schema = 1 // raise with a migration; see migrate.go

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrCorrupt: a stored row does not match its checksum, or is not what its
// key says.
var ErrCorrupt = errors.New("stored row is damaged")

func encode(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode row: %w", err)
	}
	return seal(schema, body), nil
}

func seal(version byte, body []byte) []byte {
	b := make([]byte, 0, 5+len(body))
	b = append(b, version)
	b = binary.BigEndian.AppendUint32(b, sum(version, body))
	return append(b, body...)
}

func sum(version byte, body []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte{version}, castagnoli), castagnoli, body)
}

// open checks a value and returns its writer's schema version and its JSON.
func open(raw []byte) (byte, []byte, error) {
	if len(raw) < 5 {
		return 0, nil, fmt.Errorf("%w: %d bytes", ErrCorrupt, len(raw))
	}
	body := raw[5:]
	if binary.BigEndian.Uint32(raw[1:5]) != sum(raw[0], body) {
		return 0, nil, fmt.Errorf("%w: checksum differs", ErrCorrupt)
	}
	return raw[0], body, nil
}

func decode(raw []byte, v any) error {
	_, body, err := open(raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// rewrite encodes v in place of old, keeping the fields of old that v's type
// does not know, which only a newer release can have written.
func rewrite(old []byte, v any) ([]byte, error) {
	if len(old) == 0 || old[0] <= schema {
		return encode(v)
	}
	version, body, err := open(old)
	if err != nil {
		return encode(v)
	}
	var before, now map[string]json.RawMessage
	if json.Unmarshal(body, &before) != nil {
		return encode(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode row: %w", err)
	}
	if err := json.Unmarshal(b, &now); err != nil {
		return nil, fmt.Errorf("encode row: %w", err)
	}
	known := fields(reflect.TypeOf(v))
	for k, raw := range before {
		if !known[k] {
			now[k] = raw
		}
	}
	if b, err = json.Marshal(now); err != nil {
		return nil, fmt.Errorf("encode row: %w", err)
	}
	return seal(version, b), nil
}

// fields are the JSON names of a struct type's fields.
func fields(t reflect.Type) map[string]bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	known := map[string]bool{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = true
	}
	return known
}
