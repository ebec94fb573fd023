// The reference of protocol version 2 has every request, frame and event of the schemas, with their fields, and the
// schemas accept its examples.
import { SESSION_EVENT_SCHEMA } from '@baton/core'
import type { JsonObject } from '@baton/core'
import { CLIENT_FRAME_2_SCHEMA, SERVER_FRAME_2_SCHEMA } from '@baton/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { protocolPage, readEvents, readRequests } from './docs-protocol.ts'
import { REPOSITORY } from './source-files.ts'

const ajv = new Ajv2020({ strict: false })
const page = protocolPage()
/** Sections by their headings. */
const sections = new Map(page.split(/^### `/m).map((text) => [text.slice(0, text.indexOf('`')), text]))

interface Shape {
  readonly type: string
  readonly fields: readonly string[]
}

/** The kinds of a schema: their types and fields; a question mark follows each optional field. */
function listShapes(schema: JsonObject, around = ['id', 're']): readonly Shape[] {
  const kinds = schema['oneOf'] as readonly {
    readonly properties: Readonly<Record<string, { readonly const?: string }>>
    readonly required: readonly string[]
  }[] // according to how these schemas are built
  return kinds.map(({ properties, required }) => ({
    type: properties['type']?.const ?? '',
    fields: Object.keys(properties)
      .filter((name) => name !== 'type' && !around.includes(name))
      .map((name) => (required.includes(name) ? name : `${name}?`))
      .toSorted(),
  }))
}

const namesOf = (fields: readonly { readonly name: string; readonly isOptional: boolean }[]): readonly string[] =>
  fields.map(({ name, isOptional }) => (isOptional ? `${name}?` : name)).toSorted()

test('every request of the schema stands on the page, with its fields and what they mean', () => {
  const shapes = listShapes(CLIENT_FRAME_2_SCHEMA)
  expect(readRequests().map(({ type }) => type)).toEqual(shapes.map(({ type }) => type))
  for (const { type, given } of readRequests()) {
    expect([type, namesOf(given)]).toEqual([type, shapes.find((shape) => shape.type === type)?.fields])
    for (const { name } of given) expect(sections.get(type)).toContain(`| \`${name}\``)
    expect(sections.get(type)).toContain('```json')
  }
})

test('every event of the schema stands on the page, with its fields', () => {
  const shapes = listShapes(SESSION_EVENT_SCHEMA, ['cursor', 'at', 'path'])
  const events = new Map(readEvents().map(({ name, fields }) => [name, namesOf(fields)]))
  expect([...events.keys()]).toEqual(shapes.map(({ type }) => type))
  for (const { type, fields } of shapes) {
    expect([type, events.get(type)]).toEqual([type, fields])
    expect(sections.get(type)).toContain(`"type":"${type}"`)
  }
})

test('the page of events names every event', () => {
  const events = readFileSync(join(REPOSITORY, 'docs/events.md'), 'utf8')
  for (const { name } of readEvents()) expect(events).toContain(`\`${name}\``)
})

test('every frame of the server stands on the page, with its fields', () => {
  for (const { type, fields } of listShapes(SERVER_FRAME_2_SCHEMA, [])) {
    if (type === 'ok') continue
    const section = sections.get(type) ?? ''
    for (const field of fields)
      expect(section).toContain(`| \`${field.replace('?', '')}\`${field.endsWith('?') ? '?' : ''} |`)
  }
})

test('the examples are frames that the schemas take', () => {
  const isRequest = ajv.compile(CLIENT_FRAME_2_SCHEMA)
  const isFrame = ajv.compile(SERVER_FRAME_2_SCHEMA)
  const isEvent = ajv.compile(SESSION_EVENT_SCHEMA)
  const examples = [...page.matchAll(/```json\n([^]*?)\n```/g)].flatMap(([, text = '']) => text.split('\n'))
  expect(examples.length).toBeGreaterThan(90)
  for (const text of examples) {
    const example = JSON.parse(text) as { readonly id?: string; readonly cursor?: object } // by how the page is written
    const check = example.id !== undefined ? isRequest : example.cursor ? isEvent : isFrame
    check(example)
    expect([text, check.errors ?? []]).toEqual([text, []])
  }
})

test('every field of a device has its meaning, wherever its type is declared', () => {
  const [, section = ''] = /### `device\.attach`\n([^]*?)\n### /.exec(page) ?? []
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows.length).toBeGreaterThan(4)
  expect(rows.filter((row) => row.endsWith('|  |'))).toEqual([])
})

test('the page of errors has every sentence with which a call ends', () => {
  const code = readFileSync(join(REPOSITORY, 'packages/core/src/machine/render.ts'), 'utf8')
  const sentences = [...code.matchAll(/^ {2}\['[\w-]+', '([^']+)'\],$/gm)].map(([, sentence = '']) => sentence)
  expect(sentences).toHaveLength(14)
  const errors = readFileSync(join(REPOSITORY, 'docs/error-handling.md'), 'utf8')
  for (const sentence of sentences) expect(errors).toContain(`| ${sentence} |`)
})
