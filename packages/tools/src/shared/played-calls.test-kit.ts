// A turn of a real host in which a scripted model calls tools, and the outcome of each call.
import type { JsonObject, JsonValue, Tool } from '@baton/core'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'

export type Step = readonly [name: string, input: JsonObject]

export interface Played {
  /** `<name> <type> <code>: <text for the model>` for each call, in order. */
  readonly calls: readonly string[]
  readonly notes: readonly JsonValue[]
  /** Names of the tools whose calls needed approval; each is approved. */
  readonly asked: readonly string[]
  /** The JSON Schema of each tool, as shown to the model. */
  readonly shown: Readonly<Record<string, JsonObject>>
}

export interface PlayOptions {
  readonly services?: unknown
  /** Called when a call has started; the turn is interrupted when it resolves. */
  readonly interruptAt?: () => Promise<void>
}

/** Plays one turn with one call per step. */
export async function playCalls(
  tools: readonly Tool[],
  steps: readonly Step[],
  { services, interruptAt }: PlayOptions = {},
): Promise<Played> {
  const script = [...steps.map(([name, input]) => ({ calls: [{ name, arguments: input }] })), { text: 'Done.' }]
  const model = createScriptedModel({ steps: script })
  const agent = defineAgent({ name: 'tester', model, tools: [...tools] })
  const host = createHost({ agent, services: services as never }) // whatever the test's tools need
  try {
    const session = await host.session('one')
    const calls: string[] = []
    const notes: JsonValue[] = []
    const asked: string[] = []
    void interruptAt?.().then(() => session.interrupt())
    for await (const event of session.send('Go.')) {
      if (event.type === 'call-progress') notes.push(event.note)
      if (event.type === 'approval-requested') {
        asked.push(event.call.name)
        await session.decide({ approvalId: event.approvalId, decision: 'approve' })
      }
      if (event.type !== 'call' || !event.call.result) continue
      const { result, name } = event.call
      const text =
        'content' in result
          ? result.content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('|')
          : 'message' in result
            ? result.message
            : ''
      calls.push([name, result.type, ...('code' in result ? [result.code] : [])].join(' ') + `: ${text}`)
    }
    const shown = Object.fromEntries(
      (model.requests[0]?.tools ?? []).map(({ name, inputSchema }) => [name, inputSchema]),
    )
    return { calls, notes, asked, shown }
  } finally {
    await host.stop()
  }
}
