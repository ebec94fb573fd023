// `--mcp` in separate processes: tools of stock servers given as a command and as a file, and one clear line per
// mistake.
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
const COMMAND = `"${process.execPath}" "${EVERYTHING}"`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
  const core = JSON.stringify(new URL('../../../core/src/index.ts', import.meta.url).href)
  const testing = JSON.stringify(new URL('../../../core/src/testing/index.ts', import.meta.url).href)
  writeFileSync(
    join(folder, 'agent.ts'),
    `import { defineAgent } from ${core}
import { createScriptedModel } from ${testing}
const ask = (name, input) => ({ calls: [{ name, arguments: input }] })
export default defineAgent({ name: 'tester', model: createScriptedModel({ steps: [
  ask('get-sum', { a: 2, b: 3 }), ask('get-tiny-image', {}), ask('trigger-elicitation-request', {}), { text: 'I am done.' },
] }) })
`,
  )
})
afterEach(() => rmSync(folder, { recursive: true }))

function baton(words: readonly string[], variables: Readonly<Record<string, string>> = {}): StartedCommand {
  return startCommand(process.execPath, {
    words: [BATON, ...words],
    folder,
    variables: { XDG_DATA_HOME: folder, HOME: folder, ...variables },
  })
}

test('a quoted command: its tools are called, and a question without a person to answer is declined', async () => {
  const command = baton(['chat', '--agent', 'agent.ts', '--once', 'Go.', '--mcp', COMMAND])
  expect(await command.ended).toEqual({ code: 0, signal: null })
  expect(command.output()).toContain('I am done.')
  expect(command.errors()).toContain('✓ get-sum')
  expect(command.errors()).toContain('✓ get-tiny-image')
  expect(command.errors()).toContain("a tool's question was declined, because there is no one to ask")
  // The tool definitions are pinned for the next run.
  expect(readFileSync(join(folder, 'baton', 'mcp-tools.json'), 'utf8')).toContain('"get-sum"')
})

test('a file of servers, with a variable; `run` takes it too', async () => {
  const everything = { type: 'stdio', command: '${NODE}', args: [EVERYTHING] }
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { everything } }))
  const command = baton(['run', 'agent.ts', 'Go.', '--mcp', '.mcp.json'], { NODE: process.execPath })
  expect(await command.ended).toEqual({ code: 0, signal: null })
  expect(command.errors()).toContain('✓ get-sum')
})
