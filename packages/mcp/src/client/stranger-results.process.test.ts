// A server that writes its results like servers in other languages, as a program: its tools can be used, and everything
// it said about a finished call reaches the model.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { leaveOut } from '@baton/testing/left-out'
import { afterEach, expect, test } from 'vitest'
import { callTools, createWaitingServers } from './mcp-session.test-kit.ts'

const root = process.env['BATON_FIXTURES']
const SERVER = root === undefined ? '' : join(root, '../reports/mcp-odd-server.mjs')
const isThere = SERVER !== '' && existsSync(SERVER)
if (!isThere)
  leaveOut(
    'a server that writes odd results',
    { why: 'its program is missing', remedy: 'Set BATON_FIXTURES.' },
    (said) => console.warn(said),
  )

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function call(mode: string): Promise<readonly string[]> {
  const { servers } = createWaitingServers({ odd: { command: process.execPath, args: [SERVER, mode] } })
  ends.push(() => servers.close())
  return (await callTools(servers, [['a', { q: 'x' }]])).calls
}

test.skipIf(!isThere).each([
  ['null-fields', 'ok'],
  ['res-nocontent', '{"ok":1}'],
  ['res-null', 'null'],
  ['res-string', 'plain'],
  ['res-legacy', '{"ok":1}'],
  ['res-unknown', '{"type":"chart","data":[1]}'],
  ['res-textnum', '5'],
  ['res-structarr', '[1,2]'],
  ['res-meta', 'ok'],
])('%s', async (mode, said) => {
  expect(await call(mode)).toEqual([`a ok: ${JSON.stringify([{ type: 'text', text: said }])}`])
})

test.skipIf(!isThere).each([
  ['res-errstruct', 'no rights'],
  ['res-errstring', 'bad'],
])('%s is a failure with the words of the server', async (mode, words) => {
  expect(await call(mode)).toEqual([expect.stringMatching(new RegExp(`^a error tool_failed: .*${words}`))])
})
