// A conversation changes its provider halfway: every kind of past of every provider is taken over by every other one,
// over real HTTP to servers that reject what the real ones reject. Also with a pending call.
import { frontOf } from '@baton/core/internal'
import type { ModelRequest } from '@baton/core'
import { defineAgent } from '@baton/core'
import { FORMAT_VERSION } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import type { LocalHost } from '@baton/host'
import { createHost, createMemoryStore, exportSession } from '@baton/host'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Parties, Party } from './parties.ts'
import { startParties } from './parties.ts'
import { createHandoffTools, EXCHANGES } from './transcripts.ts'

const TIMEOUT_MS = 240_000
const PAGE = fileURLToPath(new URL('../../../../docs/providers.md', import.meta.url))
const SETTINGS = { reasoningTokens: 1024, maxOutputTokens: 4096 }

let parties: Parties
/** Accepted requests, by source and target. */
const accepted = new Map<string, number>()
const pending = new Map<string, string>()
beforeAll(async () => {
  parties = await startParties()
})
afterAll(async () => {
  await parties.close()
  const sum = [...accepted.values()].reduce((one, other) => one + other, 0)
  const pairs = accepted.size
  console.log(`hand-off: ${EXCHANGES.length ** 2} transcripts × ${pairs} pairs of providers: ${sum} requests accepted`)
  console.log(`hand-off: ${[...pending.values()].filter((one) => one === 'answered').length} pairs with a call pending`)
  mkdirSync('reports', { recursive: true })
  writeFileSync('reports/handoff.json', JSON.stringify({ accepted: [...accepted], pending: [...pending] }))
})

/** One per kind, limited to a readable number. */
function refusals(): readonly string[] {
  return [...new Set(parties.all.flatMap((party) => party.refusals().map((why) => `${party.name}: ${why}`)))].slice(
    0,
    10,
  )
}

/** One session of a source, with every kind of exchange, as exported: written once for each record format. */
async function goldenLog(source: Party): Promise<string> {
  const store = createMemoryStore()
  const agent = defineAgent({ name: 'golden', model: source.model, tools: createHandoffTools(), settings: SETTINGS })
  const host = createHost({ agent, store })
  const session = await host.session(source.name)
  for (const { asks, said, afterwards } of EXCHANGES) {
    source.queue.push(...said)
    await session.send(asks).answer
    await afterwards?.(session)
  }
  await host.stop()
  const lines: string[] = []
  for await (const line of exportSession(store, source.name)) lines.push(line)
  return `${lines.join('\n')}\n`
}

test.runIf(process.env['BATON_WRITE_GOLDEN'] === '1')('golden logs are written', async () => {
  for (const source of parties.all)
    writeFileSync(
      new URL(`../golden/v${FORMAT_VERSION}-${source.name}.jsonl`, import.meta.url),
      await goldenLog(source),
    )
})

/** The request sent to the next model of a conversation, whichever it is. */
async function buildPast(source: Party, pair: readonly (typeof EXCHANGES)[number][]): Promise<ModelRequest> {
  const asked = createScriptedModel({ id: 'any/next', steps: () => ({ text: 'never mind' }) })
  const agent = defineAgent({
    name: 'handoff',
    instructions: 'Be brief.',
    model: [source.model, asked],
    tools: createHandoffTools(),
    settings: SETTINGS,
    retry: { attempts: 1 },
  })
  const host = createHost({ agent })
  try {
    const session = await host.session(undefined)
    for (const { asks, said, afterwards } of pair) {
      source.queue.push(...said)
      await session.send(asks).answer
      await afterwards?.(session)
    }
    await session.send('And now?', { model: asked.id }).answer
  } finally {
    await host.stop()
  }
  const [request] = asked.requests
  if (!request) throw new Error('the next model was not asked')
  return request
}

test('every past of every provider is taken over by every provider', { timeout: TIMEOUT_MS }, async () => {
  const problems: string[] = []
  for (const source of parties.all)
    for (const first of EXCHANGES)
      for (const second of EXCHANGES) {
        const request = await buildPast(source, [first, second])
        for (const target of parties.all) {
          const answer = await target.model.run(request, () => {}, new AbortController().signal).catch(String)
          const pair = `${source.name} → ${target.name}`
          if (typeof answer === 'string') problems.push(`${pair}, ${first.name}, then ${second.name}: ${answer}`)
          else accepted.set(pair, (accepted.get(pair) ?? 0) + 1)
        }
      }
  expect([problems.length, ...problems.slice(0, 10)]).toEqual([0])
  expect(refusals()).toEqual([])
})

test(
  'a call that was pending at the change is settled afterwards, and told to the new provider',
  { timeout: TIMEOUT_MS },
  async () => {
    for (const source of parties.all)
      for (const target of parties.all) {
        const models = source === target ? [source.model] : [source.model, target.model]
        const agent = defineAgent({ name: 'handoff', model: models, tools: createHandoffTools(), settings: SETTINGS })
        const host: LocalHost = createHost({ agent })
        const session = await host.session(undefined)
        const called = Promise.withResolvers<void>()
        const answered = Promise.withResolvers<string>()
        await session.attach({
          'phone.look': async () => {
            called.resolve()
            return await answered.promise
          },
        })
        source.queue.push({
          reasoning: 'The phone.',
          calls: [
            { tool: /phone/, input: {} },
            { tool: /sky/, input: { place: 'x' } },
          ],
        })
        const turn = session.send('What does the phone see?')
        await called.promise
        await frontOf(session).submit({ type: 'set-model', model: target.model.id })
        answered.resolve('a crab')
        await turn.answer
        target.queue.push({ text: 'It was a crab.' })
        expect((await session.send('What was it?').answer).text).toBe('It was a crab.')
        expect(JSON.stringify(target.bodies().at(-1))).toContain('a crab')
        pending.set(`${source.name} → ${target.name}`, 'answered')
        await host.stop()
      }
    expect(refusals()).toEqual([])
  },
)

test('the page of the providers shows what was accepted', () => {
  const page = readFileSync(PAGE, 'utf8')
  const names = parties.all.map(({ name }) => name)
  const cell = (pair: string): string => `${accepted.get(pair) ?? 0}${pending.has(pair) ? '*' : ''}`
  const rows = [
    ['from \\ to', ...names],
    names.concat('').map(() => '---'),
    ...names.map((source) => [source, ...names.map((target) => cell(`${source} → ${target}`))]),
  ]
  const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
  const shown = page.replace(
    /(<!-- handoff:[^\n]*-->\n)[^]*(<!-- \/handoff -->)/,
    (_, open: string, close: string) => `${open}\n${table}\n\n${close}`,
  )
  if (process.env['BATON_WRITE_DOCS'] === '1') writeFileSync(PAGE, shown)
  const squeeze = (text: string): string => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---')
  expect(squeeze(readFileSync(PAGE, 'utf8'))).toBe(squeeze(shown))
})

/** Request body types of the vendors' own SDKs. */
const SDK_TYPES: Readonly<Record<string, string>> = {
  anthropic: "import('@anthropic-ai/sdk').Anthropic.MessageCreateParamsStreaming",
  // Their types require fields of stored items; nothing is stored, and the API accepts items without them.
  openai: `Omit<import('openai').OpenAI.Responses.ResponseCreateParamsStreaming, 'input'> & {
    input: (
      | import('openai').OpenAI.Responses.ResponseInputItem
      | Omit<import('openai').OpenAI.Responses.ResponseReasoningItem, 'id'>
      | { role: 'assistant'; content: Omit<import('openai').OpenAI.Responses.ResponseOutputText, 'annotations'>[] }
    )[]
  }`,
  'openai-chat': "import('openai').OpenAI.Chat.ChatCompletionCreateParamsStreaming",
  // Their enums are only checked by name at run time, and both cases are accepted: see the strict wire.
  gemini: `Loose<{
    contents: import('@google/genai').Content[]
    systemInstruction?: import('@google/genai').Content
    tools?: import('@google/genai').Tool[]
    toolConfig?: import('@google/genai').ToolConfig
    generationConfig?: import('@google/genai').GenerationConfig
  }>`,
}
/** Replaces every string enum of a type with string. */
const LOOSE = `export {}
type Loose<T> = T extends string ? string : T extends readonly (infer I)[] ? Loose<I>[] : T extends object ? { [K in keyof T]: Loose<T[K]> } : T`
/** Milliseconds per provider; the compiler is slow. */
const TYPED_MAX = 60

test('what was accepted has the types of the vendors\u2019 own SDKs', { timeout: TIMEOUT_MS }, async () => {
  const checks = parties.all.flatMap(({ name, bodies }) => {
    const type = SDK_TYPES[name]
    const all = bodies()
    const every = Math.ceil(all.length / TYPED_MAX)
    const some = type === undefined ? [] : all.filter((_, index) => index % every === 0)
    return some.map((body) => `;(${JSON.stringify(body)}) satisfies ${type}`)
  })
  mkdirSync('reports', { recursive: true })
  writeFileSync('reports/handoff-types.ts', `${LOOSE}\n${checks.join('\n')}\n`)
  const words =
    'tsc --ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2024 reports/handoff-types.ts'
  const checked = await promisify(execFile)('npx', words.split(' ')).catch(
    (failure: { readonly stdout: string }) => failure,
  )
  expect(
    [...new Set(checked.stdout.split('\n').map((line) => line.replace(/^.*?error/, 'error')))].slice(0, 8),
  ).toEqual([''])
  console.log(`hand-off: ${checks.length} requests have the types of their vendors\u2019 SDKs`)
})
