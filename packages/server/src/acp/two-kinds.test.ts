// Each kind of an editor's requests while each other one is under way: in order, sent twice, cancelled, and over a
// connection that ends. The SDK's own client sends them. Expected: docs/editors.md.
import { methods } from '@agentclientprotocol/sdk'
import type { JsonValue } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { expect, test } from 'vitest'
import { createGatedStore } from '../shared/gated-store.test-kit.ts'
import { turnLoop } from '../websocket/v2-memory-app.test-kit.ts'
import type { TestEditor } from './acp.test-kit.ts'
import { startEditor } from './acp.test-kit.ts'

interface Row {
  readonly params: (session: string, tag: string) => object
  /** Kinds that may be refused, cancelled or undone beside it. */
  readonly ends?: readonly string[]
  /** Whether the answer is one of this kind. */
  readonly is: (answer: Readonly<Record<string, unknown>>) => boolean
}

const PLACE = { cwd: '/work', mcpServers: [] }
const OF_SESSION = ['session/prompt', 'session/set_mode', 'session/set_config_option', 'session/close']

const ROWS: Readonly<Record<string, Row>> = {
  authenticate: { params: () => ({ methodId: 'keys' }), is: () => true },
  'session/new': { params: () => PLACE, is: ({ sessionId }) => typeof sessionId === 'string' },
  'session/load': {
    params: (sessionId) => ({ sessionId, ...PLACE }),
    is: ({ modes, sessionId }) => modes !== undefined && sessionId === undefined,
    ends: OF_SESSION,
  },
  'session/resume': {
    params: (sessionId) => ({ sessionId, ...PLACE }),
    is: ({ modes, sessionId }) => modes !== undefined && sessionId === undefined,
    ends: OF_SESSION,
  },
  'session/list': { params: () => ({}), is: ({ sessions }) => Array.isArray(sessions) },
  'session/close': { params: (sessionId) => ({ sessionId }), is: isEmpty, ends: OF_SESSION },
  'session/delete': {
    params: (sessionId) => ({ sessionId }),
    is: isEmpty,
    ends: [...OF_SESSION, 'session/load', 'session/resume'],
  },
  'session/set_mode': { params: (sessionId) => ({ sessionId, modeId: 'read' }), is: isEmpty },
  'session/set_config_option': {
    params: (sessionId) => ({ sessionId, configId: 'thinking', value: 'high' }),
    is: ({ configOptions }) => Array.isArray(configOptions),
  },
  'session/prompt': {
    params: (sessionId, tag) => ({ sessionId, prompt: [{ type: 'text', text: `words of ${tag}` }] }),
    is: ({ stopReason }) => stopReason === 'end_turn' || stopReason === 'cancelled',
  },
}
const ALL = Object.keys(ROWS)
const HARMLESS = ALL.filter((kind) => ROWS[kind]?.ends === undefined)
const OTHERS = [HARMLESS, ...ALL.filter((kind) => ROWS[kind]?.ends !== undefined).map((kind) => [kind])]

function isEmpty(answer: object): boolean {
  return Object.keys(answer).length === 0
}

function readRow(kind: string): Row {
  const row = ROWS[kind]
  if (!row) throw new Error(`no row of ${kind}`)
  return row
}

async function start({ hangs = false } = {}) {
  const gated = createGatedStore()
  const manner = { hangs }
  const model = createScriptedModel({ steps: () => (manner.hangs ? { hangs: 'until-aborted' } : { text: 'Yes.' }) })
  const agent = defineAgent({ name: 'coder', model })
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const host = createHost({ environment, agent, store: gated.store })
  const auth = { name: 'Keys', missing: async () => undefined }
  const open = () => startEditor({ agent, host, options: { models: 'any', auth } })
  const editor = await open()
  let other: Promise<TestEditor> | undefined
  const session = await editor.open('/work')
  /** Words of the user in the log, each as often as it is there. */
  const readSaid = async (session: string): Promise<readonly string[]> => {
    let log = ''
    for await (const { facts } of gated.store.read(session, 0))
      for (const fact of facts) if (fact.type === 'input-accepted') log += JSON.stringify(fact)
    return [...log.matchAll(/words of (\w+)/g)].map(([, tag = '']) => tag)
  }
  const stop = async (): Promise<void> => {
    await editor.stop()
    await (await other)?.stop()
    await host.stop()
  }
  return {
    ...gated,
    host,
    editor,
    open,
    other: () => (other ??= open()),
    session,
    isOfTwo: false,
    manner,
    readSaid,
    stop,
  }
}

type World = Awaited<ReturnType<typeof start>>

interface Sent {
  readonly kind: string
  readonly tag: string
  /** The answer, or the code of the refusal. */
  readonly answer: Promise<{ readonly ok: object } | { readonly refused: string }>
}

function send({ session }: World, editor: TestEditor, [kind, tag]: readonly [string, string]): Sent {
  const asked = editor.agent.request(kind as 'session/list', readRow(kind).params(session, tag) as never) // as its row says
  const answer = asked.then(
    (ok) => ({ ok }),
    (cause: unknown) => ({ refused: readCode(cause) }),
  )
  return { kind, tag, answer }
}

function readCode(cause: unknown): string {
  const { data, message } = cause as { readonly data?: { readonly code?: string }; readonly message: string } // of JSON-RPC
  return data?.code ?? message
}

type Situation = (world: World, first: string, others: readonly string[]) => Promise<readonly Sent[]>

const beside: Situation = async (world, first, others) => {
  world.hold()
  const one = send(world, world.editor, [first, 'a'])
  await turnLoop(2)
  const rest = others.map((kind) => send(world, world.editor, [kind, 'b']))
  await turnLoop(2)
  world.go()
  return [one, ...rest]
}

const twoEditors: Situation = async (world, first, others) => {
  const other = await world.other()
  await other.agent.request(methods.agent.session.resume, { sessionId: world.session, ...PLACE })
  world.hold()
  const one = send(world, world.editor, [first, 'a'])
  const rest = others.map((kind) => send(world, other, [kind, 'b']))
  await turnLoop(2)
  world.go()
  return [one, ...rest]
}

test.each([
  ['over one connection', beside],
  ['over two connections', twoEditors],
])(
  'two requests at once have an answer each, and an accepted prompt is in the log once: %s',
  async (_how, situation) => {
    const wrong = await Promise.all(ALL.map((first) => playWithAll(first, situation)))
    expect(wrong.flat()).toEqual([])
  },
)

async function playWithAll(first: string, situation: Situation): Promise<readonly string[]> {
  const issues: string[] = []
  const world = await start()
  for (const others of OTHERS) {
    const run = { ...world, session: await world.editor.open('/work'), isOfTwo: situation === twoEditors }
    const sent = await situation(run, first, others)
    for (const issue of await check(run, sent)) issues.push(`${first} and ${others.join(', ')}: ${issue}`)
  }
  await world.stop()
  return issues
}

async function check(world: World, sent: readonly Sent[]): Promise<readonly string[]> {
  const issues: string[] = []
  const isEnded = (one: Sent): boolean =>
    sent.some((other) => other !== one && (readRow(other.kind).ends ?? []).includes(one.kind))
  const said = new Map<string, number>()
  const accepted = await Promise.all(sent.map(async (one) => ({ ...one, answered: await one.answer })))
  if (!sent.some(({ kind }) => kind === 'session/delete'))
    for (const tag of await world.readSaid(world.session)) said.set(tag, (said.get(tag) ?? 0) + 1)
  for (const [index, { kind, tag, answered }] of accepted.entries()) {
    const isOver = isEnded(sent[index] as Sent)
    if ('refused' in answered) {
      if (!isOver) issues.push(`${kind} ${tag}: ${answered.refused}`)
    } else if (!readRow(kind).is(answered.ok as never)) issues.push(`${kind} ${tag}: ${JSON.stringify(answered.ok)}`)
    const times = said.get(tag) ?? 0
    if (kind === 'session/prompt' && (times > 1 || (times === 0 && !isOver)))
      issues.push(`${kind} ${tag}: ${times} times`)
  }
  return [...issues, ...(await checkChoices(world, accepted, isEnded))]
}

/** Choices are kept when the session is opened again. */
async function checkChoices(
  world: World,
  sent: readonly Sent[],
  isEnded: (one: Sent) => boolean,
): Promise<readonly string[]> {
  const chose = (kind: string): boolean => sent.some((one) => one.kind === kind)
  if (!chose('session/set_mode') && !chose('session/set_config_option')) return []
  // Two editors may overwrite each other's choices.
  if (world.isOfTwo || sent.some((one) => readRow(one.kind).ends || isEnded(one))) return []
  const again = await world.other()
  const { modes, configOptions } = await again.agent.request(methods.agent.session.resume, {
    sessionId: world.session,
    ...PLACE,
  })
  const thinking = configOptions?.find(({ id }) => id === 'thinking')
  return [
    ...(chose('session/set_mode') && modes?.currentModeId !== 'read' ? [`the mode is ${modes?.currentModeId}`] : []),
    ...(chose('session/set_config_option') && !JSON.stringify(thinking).includes('"currentValue":"high"')
      ? [`the choice is ${JSON.stringify(thinking)}`]
      : []),
  ]
}

test('each kind of request that is answered has a row', async () => {
  const { editor, host } = await start()
  const listed = listTexts(methods.agent as JsonValue).filter((method) => method !== 'initialize')
  const known: string[] = []
  for (const method of new Set(listed)) {
    const refused = await editor.agent
      .request(method as 'session/list', { none: 1 } as never) // wrong on purpose
      .then(() => 0)
      .catch((cause: unknown) => (cause as { readonly code: number }).code)
    if (refused !== -32_601) known.push(method)
  }
  expect(known.toSorted()).toEqual(ALL.toSorted())
  // Its messages do not fit the schemas.
  await editor.stop().catch(() => {})
  await host.stop()
})

function listTexts(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap((one) => listTexts(one)) : []
}

const PROMPTS = {
  'of text': [{ type: 'text', text: 'words of a' }],
  'with an image, which is stored first': [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }],
  'for another answer': [{ type: 'text', text: '/retry' }],
} as const

test.each(Object.entries(PROMPTS))(
  'a prompt %s that is cancelled however many promises after it was sent is not answered',
  async (what, prompt) => {
    const world = await start()
    const { editor, manner } = world
    for (let later = 0; later < 24; later += 1) {
      const sessionId = await editor.open('/work')
      manner.hangs = false
      if (what === 'for another answer') await editor.prompt(sessionId, 'first')
      manner.hangs = true
      world.hold()
      const answer = editor.agent.request(methods.agent.session.prompt, { sessionId, prompt: [...prompt] })
      for (let turns = 0; turns < later; turns += 1) await Promise.resolve()
      await editor.agent.notify(methods.agent.session.cancel, { sessionId })
      await turnLoop(2)
      world.go()
      expect([later, await answer]).toEqual([later, { stopReason: 'cancelled' }])
      await editor.agent.request(methods.agent.session.close, { sessionId })
    }
    await world.stop()
  },
)

test('two choices that are noted at once are both kept', async () => {
  const world = await start()
  world.hold()
  const option = send(world, world.editor, ['session/set_config_option', 'a'])
  await turnLoop(3)
  // The setting is in the log, and the note of it is under way.
  world.go()
  world.hold()
  await turnLoop(3)
  const mode = send(world, world.editor, ['session/set_mode', 'b'])
  await turnLoop(3)
  world.go()
  await Promise.all([option.answer, mode.answer])
  expect(await checkChoices(world, [option, mode], () => false)).toEqual([])
  await world.stop()
})

test('a prompt whose connection ends is in the log once, or not at all, and the next one is answered', async () => {
  const world = await start()
  world.hold()
  const left = send(world, world.editor, ['session/prompt', 'a'])
  await turnLoop(2)
  const stopped = world.editor.stop()
  world.go()
  await stopped
  expect(await left.answer).toMatchObject({ refused: expect.any(String) as string })
  const again = await world.open()
  await again.agent.request(methods.agent.session.load, { sessionId: world.session, ...PLACE })
  expect(await again.prompt(world.session, 'words of b')).toBe('end_turn')
  const said = await world.readSaid(world.session)
  expect([said.filter((tag) => tag === 'a').length <= 1, said.filter((tag) => tag === 'b')]).toEqual([true, ['b']])
  await again.stop()
  await world.host.stop()
})
