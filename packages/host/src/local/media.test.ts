// Pictures and files in inputs and results: stored as blobs, with their own limits, and sent as they were given.
import type { BlobStore, ContentPart, FilePart, ImagePart, Message, Store } from '@baton/core/internal'
import { tool, frontOf } from '@baton/core/internal'
import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { TestWorld } from './test-world.test-kit.ts'
import {
  act,
  listCalls,
  createManualTime,
  createTestWorld,
  noUnhandledRejections,
  resultsTold,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const look: ContentPart = { type: 'text', text: 'Look' }

function picture(bytes: number, filledWith = 7): ImagePart {
  const data = Buffer.alloc(bytes, filledWith).toString('base64')
  return { type: 'image', mediaType: 'image/png', source: { type: 'base64', data } }
}

const pdf: FilePart = { ...picture(30), type: 'file', mediaType: 'application/pdf', name: 'a.pdf' }
const audio: FilePart = { ...picture(40), type: 'file', mediaType: 'audio/wav' }
const address: ImagePart = {
  type: 'image',
  mediaType: 'image/png',
  source: { type: 'url', url: 'https://example.org/a.png' },
}

function buildData({ source }: ImagePart | FilePart): string {
  return source.type === 'base64' ? source.data : ''
}

function readHandle(part: ImagePart | FilePart): string {
  return hash('sha256', Buffer.from(buildData(part), 'base64'), 'hex')
}

/** A store whose blobs are replaced by the test. */
function createStoreWith(blobs: Partial<BlobStore>): Store {
  const store = createMemoryStore()
  return { ...store, blobs: { ...store.blobs, ...blobs } }
}

async function textOfLog(world: TestWorld): Promise<string> {
  return JSON.stringify(await world.records())
}

function lastTold(world: TestWorld): Message | undefined {
  return world.model.requests.at(-1)?.messages.at(-1)
}

test('a picture of 100 KiB is taken, and one of 300 KiB on an idle session too', async () => {
  const world = createTestWorld({ steps: () => ({ text: 'seen' }) })
  const session = await world.open()
  for (const kib of [100, 300]) {
    const sent = picture(kib * 1024)
    expect((await world.time.until(session.send([look, sent]).answer)).text).toBe('seen')
    expect(lastTold(world)?.parts).toEqual([look, sent])
  }
})

test('no bytes stand in the log, however few they are; the blobs have them under their hash', async () => {
  const world = createTestWorld({ steps: () => ({ text: 'seen' }) })
  const session = await world.open()
  const parts = [look, picture(1), pdf, audio, address]
  await world.time.until(session.send(parts).answer)
  const [accepted] = await world.facts('input-accepted')
  const blob = (part: ImagePart | FilePart, bytes: number) => ({
    ...part,
    source: { type: 'blob', handle: readHandle(part), bytes },
  })
  expect(accepted?.body).toEqual({
    type: 'user',
    parts: [look, blob(picture(1), 1), blob(pdf, 30), blob(audio, 40), address],
  })
  expect(accepted).toMatchObject({ heldChars: look.text.length + 'https://example.org/a.png'.length })
  for (const part of [picture(1), pdf, audio]) {
    expect(await textOfLog(world)).not.toContain(buildData(part))
    expect(await world.store.blobs.get(SESSION, `media/${readHandle(part)}`)).toBe(buildData(part))
  }
  expect(lastTold(world)?.parts).toEqual(parts)
})

test('a picture in a tool’s result is kept as a blob and shown to the model', async () => {
  const world = createTestWorld({
    tools: [act(() => ({ content: [look, picture(100)] }))],
    steps: [listCalls('act'), { text: 'seen' }],
  })
  const session = await world.open()
  await world.time.until(session.send('go').answer)
  expect(lastTold(world)?.parts).toMatchObject([{ content: [look, picture(100)] }])
  expect(await textOfLog(world)).not.toContain(buildData(picture(100)))
})

const camera = tool({ name: 'look', description: 'Takes a picture', input: { type: 'object' } })

test.each([
  ['its handler', 'handler'],
  ['its program by hand', 'hand'],
  ['a front', 'front'],
])('a picture in a client’s result is kept as a blob: brought by %s', async (_, by) => {
  const world = createTestWorld({ tools: [camera], steps: [listCalls('look'), { text: 'seen' }] })
  const session = await world.open()
  const content = [look, picture(100)]
  const report = { type: 'client-attached', connection: 'c', principal: 'anonymous' } as const
  if (by === 'handler') await world.time.until(session.attach({ look: () => ({ content }) }))
  if (by === 'front')
    await frontOf(session).submit({ ...report, sequential: false, claims: false, reportsPlayback: false, asks: true })
  const turn = session.send('go')
  if (by !== 'handler') await world.time.settle()
  const { callId = '' } = (await world.facts('step-finished'))[0]?.calls[0] ?? {}
  const outcome = { type: 'ok', content } as const
  if (by === 'hand') await (await session.attach()).result(callId, outcome)
  if (by === 'front') await frontOf(session).submit({ type: 'tool-result', connection: 'c', callId, outcome })
  await world.time.until(turn.answer)
  expect(lastTold(world)?.parts).toMatchObject([{ content }])
  expect(await textOfLog(world)).not.toContain(buildData(picture(100)))
})

test('what is over a limit is refused with the value and the limit, and nothing of it is stored', async () => {
  const world = createTestWorld({ limits: { mediaBytes: 10, inputMediaBytes: 15, mediaParts: 2 }, steps: [] })
  const session = await world.open()
  const findRefusal = async (...parts: readonly ContentPart[]): Promise<unknown> =>
    await frontOf(session).submit({ type: 'user-input', inputId: `i${parts.length}`, parts })
  expect(await findRefusal(picture(11))).toEqual({
    type: 'refused',
    code: 'input_too_large',
    message: 'the image at 0 has 11 bytes; at most 10 are allowed (mediaBytes)',
  })
  expect(await findRefusal(picture(8), picture(8))).toMatchObject({
    code: 'input_too_large',
    message: 'its images and files have 16 bytes; at most 15 are allowed (inputMediaBytes)',
  })
  await expect(session.send([look, address, address, address]).answer).rejects.toMatchObject({
    code: 'input_too_large',
    message: 'it has 3 images and files; at most 2 are allowed (mediaParts)',
  })
  expect(await world.store.blobs.names(SESSION)).toEqual([])
  expect(await world.facts('input-accepted')).toEqual([])
})

test.each([
  ['of a tool', true],
  ['of a client', false],
])('a picture that is too large in a result %s is an error for the model', async (_, isServer) => {
  const world = createTestWorld({
    limits: { mediaBytes: 10 },
    tools: [isServer ? act(() => ({ content: [picture(11)] }), { name: 'look' }) : camera],
    steps: [listCalls('look'), { text: 'oh' }],
  })
  const session = await world.open()
  if (!isServer) await world.time.until(session.attach({ look: () => ({ content: [picture(11)] }) }))
  await world.time.until(session.send('go').answer)
  const [settled] = await world.facts('call-settled')
  expect(settled?.settlement).toEqual({
    type: 'error',
    code: 'result_too_large',
    message: 'the result is too large: the image at 0 has 11 bytes; at most 10 are allowed (mediaBytes)',
  })
  expect(await world.store.blobs.names(SESSION)).toEqual([])
})

test('invalid base64 in a tool’s result is an error of the tool', async () => {
  const broken = { ...picture(1), source: { type: 'base64', data: 'data:image/png;base64,AAAA' } }
  const world = createTestWorld({
    tools: [act(() => ({ content: [broken] }))],
    steps: [listCalls('act'), { text: 'oh' }],
  })
  const session = await world.open()
  await world.time.until(session.send('go').answer)
  expect(resultsTold(world.model)).toEqual([
    {
      isError: true,
      text: 'Error: the content of the result is wrong: parts[0].source.data must be base64 alone, without "data:…;base64," before it',
    },
  ])
})

const failing: Partial<BlobStore> = { put: () => Promise.reject(new Error('the disk is full')) }

test('a store that fails refuses the input, and nothing of it is accepted; sent again, it is taken', async () => {
  const memory = createMemoryStore()
  let fails = true
  const put: BlobStore['put'] = (...blob) => {
    if (fails && blob[1].endsWith(readHandle(picture(2)))) return Promise.reject(new Error('the disk is full'))
    return memory.blobs.put(...blob)
  }
  const store = { ...memory, blobs: { ...memory.blobs, put } }
  const world = createTestWorld({ store, steps: () => ({ text: 'seen' }) })
  const session = await world.open()
  const send = () => session.send([picture(1), picture(2), picture(3)], { inputId: 'mine' })
  await expect(world.time.until(send().answer)).rejects.toMatchObject({
    code: 'store_failed',
    message: 'an image or file could not be stored or read: the disk is full',
  })
  expect(await world.records()).toHaveLength(1)
  expect(frontOf(session).phase).toBe('idle')
  fails = false
  expect((await world.time.until(send().answer)).text).toBe('seen')
})

test('a store that hangs refuses the input after its time', async () => {
  const world = createTestWorld({ store: createStoreWith({ put: () => new Promise(() => {}) }), steps: [] })
  const session = await world.open()
  const waits = world.time.pending()
  await expect(world.time.until(session.send([picture(1)]).answer)).rejects.toMatchObject({ code: 'store_failed' })
  expect(world.time.pending()).toBe(waits)
})

test('a result whose picture cannot be stored stands, and says so', async () => {
  const world = createTestWorld({
    store: createStoreWith(failing),
    tools: [act(() => ({ content: [look, picture(1)] }), { effect: 'once' }), camera],
    steps: [listCalls('act', 'look'), { text: 'oh' }],
  })
  const session = await world.open()
  await world.time.until(session.attach({ look: () => ({ content: [picture(1)] }) }))
  await world.time.until(session.send('go').answer)
  const said = '[This image could not be kept: the store failed]'
  expect(resultsTold(world.model)).toEqual([
    { isError: false, text: `Look${said}` },
    { isError: false, text: said },
  ])
})

test('a result by hand whose picture cannot be stored is refused, and can be handed in again', async () => {
  const world = createTestWorld({
    store: createStoreWith(failing),
    tools: [camera],
    steps: [listCalls('look'), { text: 'oh' }],
  })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  const { callId = '' } = (await world.facts('step-finished'))[0]?.calls[0] ?? {}
  const client = await session.attach()
  await expect(client.result(callId, { type: 'ok', content: [picture(1)] })).rejects.toMatchObject({
    code: 'store_failed',
  })
  expect(await client.result(callId, { type: 'ok', content: [look] })).toMatchObject({ type: 'accepted' })
  expect((await world.time.until(turn.answer)).text).toBe('oh')
})

test('a message after an image stays behind it, even with a slow store', async () => {
  const memory = createMemoryStore()
  const gate = Promise.withResolvers<void>()
  const put: BlobStore['put'] = async (...blob) => {
    await gate.promise
    await memory.blobs.put(...blob)
  }
  const store = { ...memory, blobs: { ...memory.blobs, put } }
  const world = createTestWorld({ store, steps: () => ({ text: 'seen' }) })
  const session = await world.open()
  const turns = [
    session.send([picture(1)], { inputId: 'one' }),
    session.send('what is it?', { inputId: 'two' }),
    session.send([picture(2)], { inputId: 'three' }),
  ]
  const event = frontOf(session).submit({ type: 'urgent-event', inputId: 'four', name: 'offer' })
  await world.time.settle()
  expect(await world.facts('input-accepted')).toEqual([])
  gate.resolve()
  await world.time.until(Promise.all([...turns.map(({ answer }) => answer), event]))
  expect((await world.facts('input-accepted')).map(({ inputId }) => inputId)).toEqual(['one', 'two', 'three', 'four'])
})

test('a handle that is closed while a picture is stored refuses it', async () => {
  const memory = createMemoryStore()
  const gate = Promise.withResolvers<void>()
  const put: BlobStore['put'] = async () => await gate.promise
  const store = { ...memory, blobs: { ...memory.blobs, put } }
  const world = createTestWorld({ store, steps: [] })
  const session = await world.open()
  const turns = [session.send([picture(1)]), session.send('and?')]
  await session.close()
  gate.resolve()
  for (const { answer } of turns) await expect(answer).rejects.toMatchObject({ code: 'session_closed' })
})

test('a late result is logged without its picture, and that is not stored', async () => {
  const world = createTestWorld({ tools: [camera], steps: [listCalls('look'), { text: 'seen' }] })
  const session = await world.open()
  const client = await world.time.until(session.attach({ look: () => 'nothing' }))
  await world.time.until(session.send('go').answer)
  const { callId = '' } = (await world.facts('step-finished'))[0]?.calls[0] ?? {}
  expect(await client.result(callId, { type: 'ok', content: [picture(1)] })).toMatchObject({ type: 'accepted' })
  expect(await world.facts('result-ignored')).toMatchObject([{ reason: 'duplicate', preview: '[image]' }])
  expect(await world.store.blobs.names(SESSION)).toEqual([])
})

test('a message is the same object in every request, so that adapters keep what they encoded', async () => {
  const world = createTestWorld({
    tools: [act(() => ({ content: [picture(2)] }))],
    steps: (_, call) => (call === 0 ? listCalls('act') : { text: 'seen' }),
  })
  const session = await world.open()
  await world.time.until(session.send([look, picture(1)]).answer)
  await world.time.until(session.send('again').answer)
  const [first, second, third] = world.model.requests.map(({ messages }) => messages)
  expect(second?.[0]).toBe(first?.[0])
  expect(third?.slice(0, 3)).toHaveLength(3)
  third?.slice(0, 3).forEach((message, index) => expect(message).toBe(second?.[index]))
})

test('blobs are read a few at a time, and each once for a request', async () => {
  const memory = createMemoryStore()
  let running = 0
  let most = 0
  const read: string[] = []
  const get: BlobStore['get'] = async (session, name) => {
    read.push(name)
    most = Math.max(most, (running += 1))
    const text = await memory.blobs.get(session, name)
    running -= 1
    return text
  }
  const store = { ...memory, blobs: { ...memory.blobs, get } }
  const world = createTestWorld({ store, steps: () => ({ text: 'seen' }) })
  const session = await world.open()
  const pictures = Array.from({ length: 10 }, (_, index) => picture(1, index))
  await world.time.until(session.send([...pictures, ...pictures]).answer)
  expect(most).toBe(4)
  expect(read.toSorted()).toEqual(pictures.map((part) => `media/${readHandle(part)}`).toSorted())
  expect(lastTold(world)?.parts).toEqual([...pictures, ...pictures])
})

test('an image missing from the store is a note for the model, and is logged', async () => {
  const world = createTestWorld({
    store: createStoreWith({ get: () => Promise.resolve(undefined) }),
    steps: () => ({ text: 'seen' }),
  })
  const session = await world.open()
  await world.time.until(session.send([look, picture(1), pdf]).answer)
  expect(lastTold(world)?.parts).toEqual([
    look,
    { type: 'text', text: '[an image is missing here]' },
    { type: 'text', text: '[a file is missing here]' },
  ])
  const warning = 'an image or file of the history is missing in the store'
  expect(world.warnings).toEqual([warning, warning])
})

test('a store that cannot read for a moment is asked again', async () => {
  const memory = createMemoryStore()
  let reads = 0
  const get: BlobStore['get'] = (...blob) =>
    (reads += 1) === 1 ? Promise.reject(new Error('busy')) : memory.blobs.get(...blob)
  const store = { ...memory, blobs: { ...memory.blobs, get } }
  const world = createTestWorld({ store, steps: () => ({ text: 'seen' }) })
  const session = await world.open()
  expect((await world.time.until(session.send([picture(1)]).answer)).text).toBe('seen')
  expect(await world.facts('attempt-superseded')).toMatchObject([{ error: { code: 'store_failed' } }])
})

test('another process sends what the first one was given', async () => {
  const store = createMemoryStore()
  const time = createManualTime()
  const first = createTestWorld({ store, time, steps: () => ({ text: 'seen' }) })
  await time.until((await first.open()).send([look, picture(100)]).answer)
  await time.until(first.host.stop())
  const next = createTestWorld({ store, time, steps: () => ({ text: 'still' }) })
  await time.until((await next.open()).send('again').answer)
  expect(next.model.requests[0]?.messages[0]?.parts).toEqual([look, picture(100)])
})

test('base64 in an older log is shown unchanged', async () => {
  const world = createTestWorld({ steps: () => ({ text: 'seen' }) })
  await world.time.until((await world.open()).send([look, picture(100)]).answer)
  await world.time.until(world.host.stop())
  const { source } = picture(100)
  const older = JSON.parse(
    (await textOfLog(world)).replaceAll(/\{"type":"blob"[^}]*\}/g, JSON.stringify(source)),
  ) as Awaited<ReturnType<TestWorld['records']>>
  const store = createMemoryStore()
  await store.restore(SESSION, older)
  const next = createTestWorld({ store, time: world.time, steps: () => ({ text: 'still' }) })
  await next.time.until((await next.open()).send('again').answer)
  expect(next.model.requests[0]?.messages[0]?.parts).toEqual([look, picture(100)])
  expect(await store.blobs.names(SESSION)).toEqual([])
})

test('a handle is nothing that a program may say: it is of the session alone', async () => {
  const world = createTestWorld({ steps: [] })
  const session = await world.open()
  const forged = { ...picture(1), source: { type: 'blob', handle: 'abc', bytes: 3 } } as unknown as ImagePart
  await expect(session.send([forged]).answer).rejects.toMatchObject({
    code: 'invalid_event',
    message: expect.stringContaining('parts[0].source.type must be "base64" or "url", not "blob"'),
  })
})

test('what is no base64 in an input is refused, and nothing of it is stored', async () => {
  const world = createTestWorld({ steps: [] })
  const session = await world.open()
  for (const data of ['not base64!', 'AAA', 'data:image/png;base64,AAAA']) {
    const wrong: ImagePart = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data } }
    await expect(session.send([look, wrong]).answer).rejects.toMatchObject({ code: 'invalid_event' })
  }
  expect(await world.store.blobs.names(SESSION)).toEqual([])
})
