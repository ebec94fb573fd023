// The conversations of docs/protocol-2.md, replayed: the page shows each frame as the server sends it.
import type { Agent } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import { createMemorySocket } from './memory-socket.ts'
import { openV2Connection } from './v2-connection.ts'
import { DeviceNames } from './v2-device.ts'

const PAGE = fileURLToPath(new URL('../../../../docs/protocol-2.md', import.meta.url))
const NOW_MS = Date.UTC(2026, 0, 1)

async function quiet(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
}

interface Talk {
  /** Sends a frame of the app, and notes it along with the server's replies. */
  readonly say: (frame: object) => Promise<void>
  readonly sent: readonly string[]
  readonly lines: readonly string[]
}

async function begin(agent: Agent): Promise<Talk> {
  const environment = {
    clock: { nowMs: () => NOW_MS },
    timers: { start: () => () => {} },
    newId: () => 'new',
    transport: { post: () => Promise.reject(new Error('no network in this test')) },
  }
  const log = { info: () => {}, warn: () => {} }
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
  const listen = async (): Promise<void> => {
    await quiet()
    lines.push(...memory.sent.slice(read).map((text) => `server  ${text}`))
    read = memory.sent.length
  }
  await listen()
  const say = async (frame: object): Promise<void> => {
    lines.push(`app     ${JSON.stringify(frame)}`)
    memory.deliver(JSON.stringify(frame))
    await listen()
  }
  return { say, sent: memory.sent, lines }
}

const id = 'example/model'

async function playCall(): Promise<readonly string[]> {
  const camera = tool({
    name: 'camera',
    description: 'Takes a picture of a place',
    input: { type: 'object', properties: { place: { type: 'string' } } },
    effect: 'once',
  })
  const model = createScriptedModel({
    id,
    steps: [{ calls: [{ name: 'camera', arguments: { place: 'door' } }] }, { pieces: ['Nobody ', 'is there.'] }],
  })
  const { say, sent, lines } = await begin(defineAgent({ name: 'home', model, tools: [camera] }))
  const callId = (): string => /"callId":"([^"]+)"/.exec(sent.join('\n'))?.[1] ?? ''
  await say({ id: '1', type: 'session.open', session: 'hall', device: { name: 'phone-7f3a', runs: ['camera'] } })
  await say({ id: '2', type: 'input.send', input: 'msg-1', content: 'Is somebody at the door?' })
  await say({ id: '3', type: 'call.claim', callId: callId() })
  await say({ id: '4', type: 'call.result', callId: callId(), outcome: { output: { people: 0 } } })
  return lines
}

/** Starts with the question. */
async function playSpeech(): Promise<readonly string[]> {
  const pieces = ['The **first** train ', 'leaves at 9.40. Ano', 'ther one leaves at 10. Or ta']
  const model = createScriptedModel({ id, steps: [{ pieces, hangs: 'until-aborted' }] })
  const { say, lines } = await begin(defineAgent({ name: 'trains', model }))
  await say({ id: '1', type: 'session.open', session: 'call', speech: 'only' })
  const opened = lines.length
  await say({ id: '2', type: 'input.send', input: 'msg-1', content: 'When does it leave?' })
  await say({ id: '3', type: 'turn.interrupt', heard: { type: 'chars', message: 't1', chars: 35 } })
  return [lines[1] ?? '', ...lines.slice(opened)]
}

test.each([
  ['a call', 'conversation', playCall],
  ['a voice', 'conversation of a voice', playSpeech],
] as const)('the page shows the conversation with %s as it is', async (_what, mark, play) => {
  const page = readFileSync(PAGE, 'utf8')
  const shown = page.split(`<!-- ${mark} -->\n\`\`\`text\n`)[1]?.split('\n```')[0]
  expect(shown).toBe((await play()).join('\n'))
})
