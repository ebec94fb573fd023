// Shapes of core, beside a validator that core does not depend on: the three judges of a value (the reader of a caller's
// value, the check of a stored one, the JSON Schema) agree, and the type is inferred from the same definition.
import type { JsonValue } from '@baton/core'
import { decodeWith, s } from '@baton/core/internal'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, expectTypeOf, test } from 'vitest'

const ajv = new Ajv2020({ strict: false })

const Point = s.fields('a point', { x: s.integer(0, 9), label: s.optional(s.nullable(s.text)) })
const Form = s.variant('type', {
  note: s.fields('a note', { text: s.textBetween(1, 5), tags: s.list(s.word('a', 'b'), 2) }),
  point: Point,
  empty: s.fields('nothing', {}),
})
const Answer = s.either('no', s.fields({ value: s.json }), s.fields({ no: s.word(true), why: s.optional(s.text) }))
const Given = s.textOr(s.word('start', 'now'), s.fields({ pos: s.count }))

const KINDS: readonly (readonly [string, s.Shape<unknown>, readonly JsonValue[], readonly JsonValue[]])[] = [
  ['text', s.text, ['', 'a'], [null, 1, [], {}]],
  ['flag', s.flag, [true, false], [0, 'true', null]],
  ['count', s.count, [0, 7], [1.5, '1', null]],
  ['amount', s.amount, [0, 1.5], ['1', null]],
  ['a word', s.word('x', 'y'), ['x'], ['z', 1, null]],
  ['true', s.word(true), [true], [false, 1]],
  ['JSON', s.json, [null, 1, 'a', [1], { a: 1 }], []],
  ['an object', s.object, [{}, { a: [] }], [[], null, 'a']],
  ['null or text', s.nullable(s.text), [null, 'a'], [1, {}]],
  ['a list', s.list(s.count), [[], [1, 2]], [[1, 'a'], {}, null]],
  ['fields', Point, [{ x: 1 }, { x: 1, label: null }], [{}, { x: '1' }, { x: 1, label: 2 }, [], null]],
  [
    'a variant',
    Form,
    [{ type: 'note', text: 'hi', tags: ['a'] }, { type: 'point', x: 2 }, { type: 'empty' }],
    [{}, { type: 'other' }, { type: 'note', text: 'hi' }, { type: 'note', text: 'hi', tags: ['c'] }, 'note'],
  ],
  ['one of two forms', Answer, [{ value: 1 }, { no: true, why: 'x' }], [{}, { no: false }, 'no']],
  ['text or an object', Given, ['start', { pos: 3 }], ['end', { pos: 'x' }, 3]],
]

test.each(KINDS)('%s: reader, check and schema agree', (_, shape, right, wrong) => {
  const fits = ajv.compile(shape.describe() as object | boolean)
  for (const value of right) {
    expect(decodeWith('it', value, shape.read)).toEqual({ ok: true, value })
    expect([value, shape.check(value)]).toEqual([value, undefined])
    expect([value, fits(value)]).toEqual([value, true])
  }
  for (const value of wrong) {
    expect(decodeWith('it', value, shape.read).ok).toBe(false)
    expect(shape.check(value)).toBeTypeOf('string')
    expect([value, fits(value)]).toEqual([value, false])
  }
})

test('any JSON that a shape reads passes its check and fits its schema', () => {
  const All = s.list(s.fields({ form: Form, answer: Answer, given: s.optional(Given) }))
  const fits = ajv.compile(All.describe() as object)
  const item = fc.record(
    {
      form: fc.oneof(
        fc.record({ type: fc.constant('note'), text: fc.string(), tags: fc.array(fc.constantFrom('a', 'b', 'c')) }),
        fc.record({ type: fc.constantFrom('point', 'empty'), x: fc.integer() }, { requiredKeys: ['type'] }),
      ),
      answer: fc.oneof(fc.record({ value: fc.jsonValue() }), fc.record({ no: fc.boolean(), why: fc.string() })),
      given: fc.oneof(fc.constantFrom('start', 'now', 'end'), fc.record({ pos: fc.integer() })),
    },
    { requiredKeys: ['form', 'answer'] },
  )
  let read = 0
  fc.assert(
    fc.property(fc.array(item, { maxLength: 3 }), (values) => {
      const value: unknown = JSON.parse(JSON.stringify(values))
      const decoded = decodeWith('it', value, All.read)
      if (!decoded.ok) return
      read += 1
      expect(decoded.value).toEqual(value)
      expect([All.check(value), fits(value)]).toEqual([undefined, true])
    }),
    { numRuns: 500 },
  )
  expect(read).toBeGreaterThan(50)
})

test('a check ignores what a later version may add: fields, and values beyond a bound', () => {
  expect(Point.check({ x: 100, zoom: true })).toBe(undefined)
  expect(decodeWith('it', { x: 100 }, Point.read)).toMatchObject({
    refusal: { message: 'x must be from 0 to 9, not 100' },
  })
  expect(decodeWith('it', { x: 1, zoom: true }, Point.read)).toMatchObject({
    refusal: { message: 'zoom is not a field of a point, which has x, label?' },
  })
})

test('the fault is named with its place', () => {
  expect(Form.check({ type: 'note', text: 'hi', tags: ['a', 7] })).toBe('.tags[1] must be "a" or "b", not 7')
  expect(Form.check({ type: 'none' })).toBe('.type must be "note" or "point" or "empty", not "none"')
  expect(decodeWith('it', { type: 'note', text: 'hi', tags: ['a', 7] }, Form.read)).toMatchObject({
    refusal: { code: 'invalid_event', message: 'tags[1] must be "a" or "b", not 7' },
  })
})

test('types are inferred, with optional fields and the tags of forms', () => {
  expectTypeOf<s.Infer<typeof Point>>().toEqualTypeOf<{ readonly x: number; readonly label?: string | null }>()
  expectTypeOf<s.Infer<typeof Form>>().toEqualTypeOf<
    | { readonly type: 'note'; readonly text: string; readonly tags: readonly ('a' | 'b')[] }
    | { readonly type: 'point'; readonly x: number; readonly label?: string | null }
    | { readonly type: 'empty' }
  >()
  expectTypeOf<s.Infer<typeof Given>>().toEqualTypeOf<'start' | 'now' | { readonly pos: number }>()
})
