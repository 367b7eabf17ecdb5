package main

// richSchema has the keywords of JSON Schema 2020-12 that a server may not lose on the way
// to the client (SEP-1613, SEP-2106).
const richSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {
		"address": {
			"$anchor": "address",
			"type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
		}
	},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"by": {"type": "string", "enum": ["post", "phone"]},
		"phone": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["address"]}, {"required": ["phone"]}]}],
	"if": {"properties": {"by": {"const": "phone"}}, "required": ["by"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["address"]},
	"additionalProperties": false
}`

// headerSchema has an argument whose value goes into the header Mcp-Param-Region as well
// (SEP-2243).
const headerSchema = `{
	"type": "object",
	"properties": {
		"region": {"type": "string", "x-mcp-header": "Region"},
		"level": {"type": "integer"}
	}
}`

// defaultsSchema is a form with a default for each primitive type (SEP-1034). The suite
// compares the values.
const defaultsSchema = `{
	"type": "object",
	"properties": {
		"name": {"type": "string", "default": "John Doe"},
		"age": {"type": "integer", "default": 30},
		"score": {"type": "number", "default": 95.5},
		"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
		"verified": {"type": "boolean", "default": true}
	}
}`

// enumsSchema is a form with the five ways to choose from a list (SEP-1330). The suite
// answers with the values and asks for the names.
const enumsSchema = `{
	"type": "object",
	"properties": {
		"untitledSingle": {"type": "string", "enum": ["option1", "option2"]},
		"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "One"}, {"const": "value2", "title": "Two"}]},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
		"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2"]}},
		"titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "One"}, {"const": "value2", "title": "Two"}]}}
	}
}`
