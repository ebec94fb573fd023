// Wire names of tools: literal ones that histories depend on, and properties over any set of names.
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WIRE_NAME, createToolNames, decodeToolName, encodeToolName } from './tool-names.ts'

const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom(
    '_',
    '-',
    '_-',
    '_--',
    '--',
    '.',
    '/',
    'dot',
    '_-dot-',
    '_-2e-',
    '_-5f-',
    '_-',
    '-dot-',
    '9',
    'agent',
    '\ud800',
    '\udc00',
  ),
  fc.string({ minLength: 60, maxLength: 70, unit: fc.constantFrom('a', 'b', '_', '-', '.') }),
)
const name = fc.oneof(
  fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join('')),
  fc.string({ maxLength: 256 }),
  // Names that are themselves encoded names.
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => encodeToolName(text)),
)

describe('literal wire names (a change breaks the histories of running sessions)', () => {
  test.each([
    ['agent_spawn', 'agent_spawn'],
    ['get-weather2', 'get-weather2'],
    ['mcp__github__create_issue', 'mcp__github__create_issue'],
    ['agent.spawn', 'agent_-dot-spawn'],
    ['a/b:c d', 'a_-slash-b_-colon-c_-space-d'],
    ['9lives', '_-39-lives'],
    ['-x', '_-2d-x'],
    ['a_-b', 'a_-5f--b'],
    ['größe', 'gr_-f6-_-df-e'],
    ['🦀', '_-1f980-'],
    ['', '_--'],
    ['x'.repeat(64), 'x'.repeat(64)],
    ['x'.repeat(65), 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_--su34l7prebec67ky2jpj5vmd'],
    [`agent.${'y'.repeat(80)}`, 'agent_-dot-yyyyyyyyyyyyyyyyyyyyyyyyyy_--kb4uunpayupzsevf3s7swp4k'],
  ])('%s', (author, wire) => {
    expect(encodeToolName(author)).toBe(wire)
  })
})

test('any set of names: each is legal, different, and comes back', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 12 }), (names) => {
      const table = createToolNames(names)
      const wires = names.map((each) => table.encode(each))
      for (const wire of wires) expect(wire).toMatch(WIRE_NAME)
      expect(new Set(wires).size).toBe(names.length)
      expect(wires.map((wire) => table.decode(wire))).toEqual(names)
    }),
    { numRuns: 500 },
  )
})

test('a name that was not cut needs no table', () => {
  const short = name.filter((author) => encodeToolName(author).length < 64)
  const property = fc.property(short, (author) => decodeToolName(encodeToolName(author)) === author)
  expect(fc.check(property).counterexample).toBeNull()
})

test('the wire name does not depend on the other tools', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1 }), (names) => {
      const table = createToolNames(names)
      for (const each of names) expect(table.encode(each)).toBe(encodeToolName(each))
    }),
  )
})

test('names that differ only where a simple replacement would lose it', () => {
  const names = ['a.b', 'a_b', 'a_-dot-b', 'a-b', 'a/b', 'A.b', 'a_-2e-b']
  expect(new Set(names.map((each) => encodeToolName(each))).size).toBe(names.length)
})

test('what a model invents comes back as it is', () => {
  const table = createToolNames(['agent.spawn'])
  for (const wire of ['agent.spawn', 'nonsense', '_-zz-', '_-ffffff-', 'a_--b', '', '_-'])
    expect(table.decode(wire)).toBe(wire)
})

test('shorter limits, and one that leaves no room', () => {
  expect(encodeToolName('y'.repeat(41), 40)).toHaveLength(40)
  expect(() => encodeToolName('y', 31)).toThrow('maxLength')
})

test('another process gives the same names', () => {
  const names = ['agent.spawn', 'a_-b', 'größe/🦀', 'z'.repeat(200), `${'z'.repeat(199)}.`]
  const script = `import { encodeToolName } from './tool-names.ts'
    console.log(JSON.stringify(JSON.parse(process.argv[1]).map((name) => encodeToolName(name))))`
  const output = execFileSync(
    process.execPath,
    ['--conditions=@baton/source', '--input-type=module', '-e', script, JSON.stringify(names)],
    { cwd: import.meta.dirname, encoding: 'utf8' },
  )
  expect(JSON.parse(output)).toEqual(names.map((each) => encodeToolName(each)))
})
