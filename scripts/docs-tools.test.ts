// The descriptions and properties of every built-in tool, which models, people and policies rely on.
import { isErrorCode, toJsonSchema } from '@baton/core/internal'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toolsPage } from './docs-tools.ts'
import { REPOSITORY } from './source-files.ts'
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
  // Tools that change something require approval, unless the program decides otherwise.
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

const OTHER_PAGES = ['workspace-explorer.md', 'editors.md', 'other-agents.md']

test.each([...TOOL_KITS.map(({ page }) => page), ...OTHER_PAGES])(
  '%s has a program, and says which packages it needs',
  (page) => {
    const text = readFileSync(join(REPOSITORY, 'docs', page), 'utf8')
    const commands = text.match(/^npm install .+$/gm)?.join(' ') ?? ''
    const programs = [...text.matchAll(/^```ts$([^]*?)^```$/gm)].map(([, program = '']) => program).join('')
    const needed = [...programs.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)(?:\/[\w-]+)*'/g)].map(([, name = '']) => name)
    expect(needed.some((name) => /^@baton\/(tools|kits)$/.test(name))).toBe(true)
    expect([...new Set(needed)].filter((name) => !commands.split(/\s+/).includes(name))).toEqual([])
  },
)

test.each(TOOL_KITS)('$page names the call that gives all tools of $subpath', ({ page, call }) => {
  const text = readFileSync(join(REPOSITORY, 'docs', page), 'utf8')
  expect(text).toMatch(new RegExp(`${call.split('(')[0] ?? ''}(<\\w+>)?\\(`))
})
