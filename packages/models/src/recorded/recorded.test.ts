// Recording and replaying a model: the same answers, no secrets, and a clear message about requests that differ.
import type { ModelEvent, ModelRequest } from '@baton/core'
import { BatonError, defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordModel, replayModel } from './index.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-recorded-'))
  file = join(folder, 'model.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true }))

const { signal } = new AbortController()

function createRequest(text: string, change: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: 'Be brief.',
    messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
    tools: [],
    toolChoice: { type: 'auto' },
    settings: {},
    session: `session of ${text}`,
    ...change,
  }
}

async function record(steps: readonly ScriptedStep[], requests: readonly ModelRequest[], secrets: string[] = []) {
  const model = recordModel(createScriptedModel({ steps }), file, { secrets })
  for (const request of requests) await model.run(request, () => {}, signal).catch(() => {})
}

test('an answer comes again piece by piece, with its tokens, from a file that only its owner reads', async () => {
  await record([{ text: 'Hello you', usage: { inputTokens: 3 } }], [createRequest('hi')])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const replayed = replayModel(file)
  expect(replayed).toMatchObject({ id: 'scripted/model', provider: 'scripted', capabilities: { tools: 'native' } })
  const events: ModelEvent[] = []
  const answer = await replayed.run(createRequest('hi', { session: 'another' }), (event) => events.push(event), signal)
  expect(events).toEqual([
    { type: 'text-delta', text: 'Hello ' },
    { type: 'text-delta', text: 'you' },
  ])
  expect(answer).toMatchObject({ parts: [{ type: 'text', text: 'Hello you' }], usage: { inputTokens: 3 } })
  expect(replayed.remaining()).toBe(0)
})

test('an error comes again with its code', async () => {
  const error = new BatonError({ code: 'model_rate_limited', message: 'slow down', data: { status: 429 } })
  await record([{ error }], [createRequest('hi')])
  await expect(replayModel(file).run(createRequest('hi'), () => {}, signal)).rejects.toMatchObject({
    code: 'model_rate_limited',
    retryable: true,
    data: { status: 429 },
  })
})

test('requests are answered in any order, and the same one in the order of its answers; then the last one stays', async () => {
  await record(
    [{ text: 'one' }, { text: 'two' }, { text: 'other' }],
    [createRequest('a'), createRequest('a'), createRequest('b')],
  )
  const replayed = replayModel(file)
  const said: string[] = []
  for (const text of ['b', 'a', 'a', 'a'])
    said.push(JSON.stringify((await replayed.run(createRequest(text), () => {}, signal)).parts))
  expect(said.map((parts) => /"text":"(\w+)"/.exec(parts)?.[1])).toEqual(['other', 'one', 'two', 'two'])
})

test('strict: the order counts, and what is asked too often or otherwise is named', async () => {
  await record([{ text: 'one' }, { text: 'two' }], [createRequest('a'), createRequest('b')])
  const replayed = replayModel(file, { strict: true })
  await expect(replayed.run(createRequest('b'), () => {}, signal)).rejects.toMatchObject({
    code: 'replay_mismatch',
    message: `request 1 differs from the recording ${file}: messages[0].parts[0].text was "a", but is "b"`,
  })
  await replayed.run(createRequest('a'), () => {}, signal)
  const settings = { temperature: 1 }
  await expect(replayed.run(createRequest('b', { settings }), () => {}, signal)).rejects.toThrow(
    'settings.temperature was absent, but is 1',
  )
  await replayed.run(createRequest('b'), () => {}, signal)
  await expect(replayed.run(createRequest('b'), () => {}, signal)).rejects.toThrow('no more requests were recorded')
})

test('by default the nearest recorded request says what differs', async () => {
  await record([{ text: 'one' }], [createRequest('a')])
  const long = `Be brief. ${'x'.repeat(500)}`
  await expect(replayModel(file).run(createRequest('a', { instructions: long }), () => {}, signal)).rejects.toThrow(
    'instructions was "Be brief.", but is "Be brief. xxx',
  )
})

test('no secret gets into the file, and the request is found all the same', async () => {
  const secrets = ['my-own-secret']
  const anthropicKey = `sk-ant-${'a1'.repeat(12)}`
  const said = `Bearer abcdef123456 ${anthropicKey} AIza${'Sy1'.repeat(12)} my-own-secret`
  const url = 'https://user:pass@example.com/v1?api_key=topsecret&x=1'
  const request = createRequest(`${said} ${url}`, {
    settings: { provider: { scripted: { authorization: 'hidden-too' } } },
  })
  const error = new BatonError({
    code: 'model_auth_failed',
    message: 'wrong key sk-proj-abcdefghijklmnopqrst',
    data: { url },
  })
  await record([{ text: `you said ${said}` }, { error }], [request, createRequest('x')], secrets)
  const written = readFileSync(file, 'utf8')
  for (const secret of ['abcdef123456', 'sk-ant', 'sk-proj', 'AIza', 'my-own', 'pass@', 'topsecret', 'hidden-too'])
    expect(written).not.toContain(secret)
  await expect(replayModel(file, { secrets }).run(request, () => {}, signal)).resolves.toBeDefined()
})

test('a whole session replays in another one, whose calls have other ids', async () => {
  const look = tool({
    name: 'look',
    description: 'Looks',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => 'a cat',
  })
  const steps = [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'It is a cat.' }]
  const models = [() => recordModel(createScriptedModel({ steps }), file), () => replayModel(file, { strict: true })]
  for (const create of models) {
    const host = createHost({ agent: defineAgent({ name: 'seer', model: create(), tools: [look] }) })
    const session = await host.session(undefined)
    expect((await session.send('What is it?').answer).text).toBe('It is a cat.')
    await host.stop()
  }
})

test.each([
  ['nothing', undefined, 'cannot be read'],
  ['no JSON', '{', 'line 1 of'],
  ['another file', '{"type":"baton-session"}', 'is neither a model nor a call'],
  [
    'a later version',
    '{"type":"baton-model-recording","version":9,"id":"m","provider":"p","capabilities":{}}',
    'version 9',
  ],
  ['a call alone', '{"type":"call","hash":"h","request":{},"events":[],"answer":{}}', 'is not a recording of a model'],
])('a recording that is %s is refused', (_, text, why) => {
  if (text !== undefined) writeFileSync(file, text)
  expect(() => replayModel(file)).toThrow(why)
})
