// The apps of docs/protocol.md, in separate processes, as a reader would run them.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { startCommand } from '@baton/testing/start-command'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url))
const page = readFileSync(`${REPOSITORY}docs/protocol.md`, 'utf8')
const apps = [...page.matchAll(/```js\n([^]*?)```/g)].map(([, code = '']) => code)
const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function serve(): Promise<string> {
  const model = createScriptedModel({
    steps: [{ calls: [{ name: 'agent.list', arguments: { limit: 3 } }] }, { text: '**None** runs.' }],
  })
  const list = tool({ name: 'agent.list', description: 'lists', input: { type: 'object' }, effect: 'pure' })
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model, tools: [list] }) })
  const front = createWebSocketFront(host, { ...environment, log: { info: () => {}, warn: () => {} }, port: 0 })
  closers.push(() => host.stop())
  closers.push(() => front.close())
  return (await front.listen()).url
}

test.each([
  ['with the client', 0],
  ['without it', 1],
])('the app of the page %s works', async (_way, index) => {
  const code = apps[index] ?? ''
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(45)
  const own = code.replace('ws://127.0.0.1:8080/ws', await serve())
  expect(own).not.toBe(code)
  const command = startCommand(process.execPath, {
    words: ['--conditions=@baton/source', '--input-type=module', '-e', own],
    folder: REPOSITORY,
  })
  closers.push(() => command.ended)
  closers.push(() => command.kill('SIGKILL'))
  await command.untilLine((line) => line === '(idle)')
  expect(command.output().trimEnd().split('\n')).toEqual([
    '(thinking)',
    'user: Which agents run?',
    'assistant: **None** runs.',
    '(speaking)',
    '(spoken) None runs.',
    '(idle)',
  ])
  expect(command.errors()).toBe('')
})
