// One session of an editor: how its events, its tools and its calls come together.
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { expect, test } from 'vitest'
import { AcpSession } from './acp-session.ts'
import { readAcpOptions } from './options.ts'
import type { Wire } from './wire.ts'

test('a call that waited for an editor reaches the one that joins now', async () => {
  const pick = tool({ name: 'pick', description: 'Picks.', input: { type: 'object' }, timeoutMs: 600_000 })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'pick', arguments: {} }] }, { text: 'Red.' }] })
  const agent = defineAgent({ name: 'shop', model, tools: [pick] })
  const host = createHost({ agent })
  const opened = await host.session('s')
  const turn = opened.send('Pick')
  await expect.poll(async () => (await opened.info()).activity).toBe('waiting')
  const called: string[] = []
  const wire: Wire = {
    gone: new AbortController().signal,
    tell: async () => {},
    askPermission: async () => ({}),
    callTool: async ({ name }) => {
      called.push(name)
      return { type: 'ok', content: [{ type: 'text', text: 'red' }] }
    },
    runs: 'all',
  }
  const session = new AcpSession({
    session: frontOf(opened),
    place: { session: 's', cwd: '/work', additionalDirectories: [], mcpServers: [], editor: {} },
    parts: readAcpOptions('test', { agent }),
    wire,
    mode: { current: 'ask' },
    thinking: 'default',
    terminals: new Map(),
  })
  await session.start('now')
  await expect.poll(() => called).toEqual(['pick'])
  expect((await turn.answer).text).toBe('Red.')
  await session.leave()
  await host.stop()
})
