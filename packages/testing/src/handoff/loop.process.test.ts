// One conversation with the same log on every provider: parallel calls, an error, a second turn, both natively and by
// prompt.
import type { Model } from '@baton/core'
import { defineAgent } from '@baton/core'
import type { Fact, SessionRecord } from '@baton/core/machine'
import { canonicalLog } from '@baton/core/machine'
import { createHost, createMemoryStore } from '@baton/host'
import { withPromptedTools } from '@baton/models/prompted'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Parties, Said } from './parties.ts'
import { startParties } from './parties.ts'
import { createHandoffTools } from './transcripts.ts'

let parties: Parties
beforeAll(async () => {
  parties = await startParties()
})
afterAll(() => parties.close())

const NATIVE: readonly Said[] = [
  {
    text: 'I look.',
    calls: [
      { tool: /sky/, input: { place: 'sea' } },
      { tool: /break/, input: {} },
      { tool: /show/, input: {} },
    ],
  },
  { calls: [{ tool: /now/, input: {} }] },
  { text: 'Blue, broken, shown, noon.' },
  { text: 'Nothing more.' },
]

function written(name: string, given: object): string {
  return `<tool_call>\n${JSON.stringify({ name, arguments: given })}\n</tool_call>`
}

const PROMPTED: readonly Said[] = [
  {
    text: `I look.\n${[
      written('sky.look', { place: 'sea' }),
      written('vase.break', {}),
      written('screen.show', {}),
    ].join('\n')}`,
  },
  { text: written('time.now', {}) },
  ...NATIVE.slice(2),
]

async function createLog(model: Model): Promise<readonly unknown[]> {
  const store = createMemoryStore()
  const host = createHost({ store, agent: defineAgent({ name: 'loop', model, tools: createHandoffTools() }) })
  const session = await host.session('s')
  for (const said of ['Look at everything.', 'And now?']) await session.send(said, { inputId: said }).answer
  await host.stop()
  const records: SessionRecord[] = []
  for await (const record of store.read('s', 0)) records.push(record)
  return canonicalLog(records).map(withoutProvider)
}

/** Provider-specific fields: its models, token counts, sizes and state. */
const OF_PROVIDER: ReadonlySet<string> = new Set(['model', 'models', 'usage', 'chars', 'state', 'specHash'])

/** Some models think without being asked. */
function withoutProvider(fact: Fact): unknown {
  const kept = JSON.stringify(fact, (key, value: unknown) => {
    if (OF_PROVIDER.has(key)) return undefined
    if (!Array.isArray(value)) return value
    return value.filter((one: { readonly type?: unknown } | null) => one?.type !== 'reasoning')
  })
  return JSON.parse(kept)
}

test('the canonical log of a conversation is the same on every provider, natively and by prompt', async () => {
  const logs = new Map<string, readonly unknown[]>()
  for (const { name, model, queue, refusals } of parties.all) {
    queue.push(...NATIVE)
    logs.set(name, await createLog(model))
    queue.push(...PROMPTED)
    logs.set(`${name}, prompted`, await createLog(withPromptedTools(model, { format: 'hermes' })))
    expect({ name, refusals: refusals() }).toEqual({ name, refusals: [] })
  }
  const [first, ...others] = [...logs]
  for (const [name, log] of others) expect({ name, log }).toEqual({ name, log: first?.[1] })
  console.log(`loop: ${logs.size} runs of one conversation, ${first?.[1].length} facts each, all the same`)
})
