// The explorer in an editor: native calls, calls in words, and a one-text plan that is then run yield the same kinds of
// updates, all of which the protocol defines.
import { client as createEditor, methods, ndJsonStream } from '@agentclientprotocol/sdk'
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { JsonObject, Model } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { withPromptedTools } from '@baton/models/prompted'
import { serveAcpOverStdio } from '@baton/server/acp'
import { createExplorer } from '@baton/kits/explorer'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { afterAll, expect, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'baton-explorer-editor-'))
writeFileSync(join(root, 'main.ts'), '// TODO: begin\n')
afterAll(() => rmSync(root, { recursive: true, force: true }))

interface Call {
  readonly name: string
  readonly arguments: JsonObject
}
const ANALYZE: Call = { name: 'session.analyze', arguments: {} }
const PLAN: Call = { name: 'plan.set', arguments: { entries: [{ content: 'Search', tool: 'code.grep' }] } }
const GREP: Call = { name: 'code.grep', arguments: { pattern: 'TODO' } }
/** A model that names a wrong tool gets an error, and continues. */
const UNKNOWN: Call = { name: 'code.guess', arguments: {} }
const REPORT: Call = {
  name: 'explore.report',
  arguments: { findings: [{ text: 'One task', evidence: [{ path: 'main.ts', line: 1 }] }] },
}
const FREE = [[ANALYZE], [PLAN], [UNKNOWN], [GREP], [REPORT]]
const PLANNED = [[ANALYZE], [PLAN, GREP, UNKNOWN], [REPORT]]

const native = (rounds: readonly (readonly Call[])[]): readonly ScriptedStep[] => [
  ...rounds.map((calls) => ({ calls })),
  { text: 'Done.' },
]
const inWords = (rounds: readonly (readonly Call[])[]): readonly ScriptedStep[] => [
  ...rounds.map((calls) => ({
    text: calls.map((call) => `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`).join('\n'),
  })),
  { text: 'Done.' },
]

async function explore(model: Model, style: 'free' | 'planned'): Promise<readonly SessionUpdate[]> {
  const sessions = { claudeCode: join(root, 'none'), codex: join(root, 'none') }
  const agent = createExplorer({ root, model, style, sessions })
  const host = createHost({ agent })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const server = serveAcpOverStdio(host, { agent, input, output })
  const updates: SessionUpdate[] = []
  const app = createEditor().onNotification(methods.client.session.update, ({ params: { update } }) => {
    updates.push(update)
  })
  const stream = ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>)
  await app.connectWith(stream, async (connection) => {
    await connection.request(methods.agent.initialize, { protocolVersion: 1 })
    const { sessionId } = await connection.request(methods.agent.session.new, { cwd: root, mcpServers: [] })
    const prompt = [{ type: 'text', text: 'Explore.' } as const]
    expect(await connection.request(methods.agent.session.prompt, { sessionId, prompt })).toMatchObject({
      stopReason: 'end_turn',
    })
  })
  await server.close()
  await host.stop()
  return updates
}

const KINDS = ['agent_message_chunk', 'plan', 'tool_call', 'tool_call_update']

test.each([
  ['native calls', createScriptedModel({ steps: native(FREE) }), 'free'],
  ['calls in words', withPromptedTools(createScriptedModel({ steps: inWords(FREE) }), { format: 'hermes' }), 'free'],
  [
    'a plan in one text',
    withPromptedTools(createScriptedModel({ steps: inWords(PLANNED) }), { format: 'hermes' }),
    'planned',
  ],
] as const)('%s', async (_, model, style) => {
  const updates = await explore(model, style)
  const kinds = new Set(updates.map(({ sessionUpdate }) => sessionUpdate))
  expect([...kinds].filter((kind) => KINDS.includes(kind)).toSorted()).toEqual(KINDS)
  const plans = updates.flatMap((update) =>
    update.sessionUpdate === 'plan' ? [update.entries.map(({ status }) => status).join()] : [],
  )
  expect(plans.at(-1)).toBe('completed')
  const ends = updates.flatMap((update) =>
    update.sessionUpdate === 'tool_call_update' && (update.status === 'completed' || update.status === 'failed')
      ? [update.status]
      : [],
  )
  // A call to a missing tool is a failed call, and never ends the conversation.
  expect(new Set(ends)).toEqual(new Set(['completed', 'failed']))
})
