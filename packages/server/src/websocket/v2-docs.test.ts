// The conversation of docs/protocol-2.md, played: the page shows each frame as the server sends it.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import { createMemorySocket } from './memory-socket.ts'
import { openV2Connection } from './v2-connection.ts'
import { DeviceNames } from './v2-device-names.ts'

const PAGE = fileURLToPath(new URL('../../../../docs/protocol-2.md', import.meta.url))
const NOW_MS = Date.UTC(2026, 0, 1)

async function quiet(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function play(): Promise<string> {
  const camera = tool({
    name: 'camera',
    description: 'Takes a picture of a place',
    input: { type: 'object', properties: { place: { type: 'string' } } },
    effect: 'once',
  })
  const model = createScriptedModel({
    id: 'example/model',
    steps: [{ calls: [{ name: 'camera', arguments: { place: 'door' } }] }, { pieces: ['Nobody ', 'is there.'] }],
  })
  const environment = {
    clock: { nowMs: () => NOW_MS },
    timers: { start: () => () => {} },
    newId: () => 'new',
    transport: { post: () => Promise.reject(new Error('no network in this test')) },
  }
  const log = { info: () => {}, warn: () => {} }
  const agent = defineAgent({ name: 'home', model, tools: [camera] })
  const host = createHost({ environment, agent, store: createMemoryStore() })
  const memory = createMemorySocket()
  openV2Connection({
    ...environment,
    log,
    socket: memory.socket,
    connection: 'c',
    host,
    principal: { id: 'anonymous' },
    limits: DEFAULT_CONNECTION_LIMITS,
    isDraining: () => false,
    allow: {},
    deviceNames: new DeviceNames(),
  })
  const lines: string[] = []
  let read = 0
  const say = async (frame: object | undefined): Promise<void> => {
    if (frame) {
      lines.push(`app     ${JSON.stringify(frame)}`)
      memory.deliver(JSON.stringify(frame))
    }
    await quiet()
    lines.push(...memory.sent.slice(read).map((text) => `server  ${text}`))
    read = memory.sent.length
  }
  const callId = (): string => /"callId":"([^"]+)"/.exec(memory.sent.join('\n'))?.[1] ?? ''
  await say(undefined)
  await say({ id: '1', type: 'session.open', session: 'hall', device: { name: 'phone-7f3a', runs: ['camera'] } })
  await say({ id: '2', type: 'input.send', input: 'msg-1', content: 'Is somebody at the door?' })
  await say({ id: '3', type: 'call.claim', callId: callId() })
  await say({ id: '4', type: 'call.result', callId: callId(), outcome: { output: { people: 0 } } })
  return lines.join('\n')
}

test('the page shows the conversation as it is', async () => {
  const page = readFileSync(PAGE, 'utf8')
  const shown = /<!-- conversation -->\n```text\n([\s\S]*?)\n```/.exec(page)?.[1]
  expect(shown).toBe(await play())
})
