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
  if (execute) expect(errors.length).toBeGreaterThan(0)
  for (const code of errors) expect(isErrorCode(code)).toBe(true)
  // What changes something is asked about, unless the program says otherwise.
  if (effect !== 'pure') expect(approval).not.toBe(false)
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
