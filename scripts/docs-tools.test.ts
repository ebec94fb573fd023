// What every ready-made tool says of itself, so that models, people and policies can rely on it.
import { isErrorCode, toJsonSchema } from '@baton/core'
import { expect, test } from 'vitest'
import { toolsPage } from './docs-tools.ts'
import { TOOL_KITS } from './tool-kits.ts'

const TOOLS = TOOL_KITS.flatMap(({ subpath, open }) => open().map((tool) => [`${subpath} ${tool.name}`, tool] as const))

test.each(TOOLS)('%s is described whole', (_, tool) => {
  const { title, kind, trust, errors = [], output, effect, approval, describe, execute } = tool
  expect(title).toMatch(/^[A-Z]/)
  expect(kind).toBeDefined()
  expect(trust).toBeDefined()
  expect(output).toBeDefined()
  expect(describe).toBeDefined()
  expect(!execute || errors.length > 0).toBe(true)
  expect(errors.filter((code) => !isErrorCode(code))).toEqual([])
  // What changes something is asked about, unless the program says otherwise.
  expect(effect === 'pure' || approval !== false).toBe(true)
})

test.each(TOOLS)('%s says what each of its arguments means', (_, tool) => {
  const { properties = {} } = toJsonSchema(tool.input) as { readonly properties?: Record<string, object> }
  const silent = Object.entries(properties).filter(([, schema]) => !('description' in schema))
  expect(silent.map(([name]) => name)).toEqual([])
})

test('no two kits have a tool of the same name', () => {
  const names = TOOLS.map(([, { name }]) => name)
  expect(new Set(names).size).toBe(names.length)
})

test('the page has each tool with its default approval', () => {
  const page = toolsPage()
  for (const [, { name }] of TOOLS) expect(page).toContain(`### ${name}\n`)
})
