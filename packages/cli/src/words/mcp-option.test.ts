// Errors of `--mcp` for a misspelled or missing server: one clear line each.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { run } from '../run.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Returns the exit code and everything printed to standard error. */
async function say(words: readonly string[]): Promise<{ readonly code: number; readonly notes: readonly string[] }> {
  const notes: string[] = []
  const code = await run(words, {
    variables: {},
    folder,
    write: () => {},
    note: (line) => void notes.push(line),
    onStray: () => () => {},
    onStop: () => () => {},
  })
  return { code, notes }
}

test.each([
  [['--mcp', '/no/such/program'], 'MCP server "program" cannot be started: there is no program "/no/such/program"'],
  [['--mcp', 'http://127.0.0.1:9/mcp'], 'MCP server "127.0.0.1"'],
  [['--mcp', 'http://example.com/mcp'], 'url must start with https:// unless the server runs on this machine'],
  [['--mcp', 'missing.json'], 'the file missing.json cannot be read: there is no file /'],
  [['--mcp', 'node "a'], 'a quote is not closed'],
  [['--mcp', 'node x.js', '--mcp', 'node y/x.js'], 'two MCP servers are called "x"'],
  [['--mcp', '.mcp.json'], '.mcp.json: MCP server "a" needs the variable TOKEN_OF_NOBODY, which is not set'],
  [['--mcp', 'localhost:3000/mcp'], 'Write http://localhost:3000/mcp.'],
  [['--mpc', 'node x.js'], 'did you mean --mcp?'],
])('%j is told in one line', async (words, said) => {
  const servers = { a: { url: 'https://example.com/mcp', headers: { authorization: 'Bearer ${TOKEN_OF_NOBODY}' } } }
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: servers }))
  const { code, notes } = await say(['chat', '--model', 'offline', '--once', 'Go.', ...words])
  expect(code).not.toBe(0)
  expect(notes).toEqual([expect.stringContaining(said) as string])
})
