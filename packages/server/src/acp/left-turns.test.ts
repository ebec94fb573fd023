// An editor that disconnects in mid-turn: the turn continues, its approvals and questions stay open however the connection
// ended, and the next editor that loads the session is asked. Expected: docs/editors.md.
import type { ClientApp } from '@agentclientprotocol/sdk'
import { methods } from '@agentclientprotocol/sdk'
import type { Session } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { afterEach, expect, test } from 'vitest'
import type { EditorParts, TestEditor } from './acp.test-kit.ts'
import { startEditor } from './acp.test-kit.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const EMPTY = { type: 'object', properties: {} } as const
const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const

const TOOLS = {
  approval: tool({ name: 'act', description: 'Acts.', input: EMPTY, approval: true, execute: () => 'Ann' }),
  question: tool({
    name: 'act',
    description: 'Acts.',
    input: EMPTY,
    execute: async (_input, { ask }) => JSON.stringify(await ask({ message: 'Who are you?', schema: NAME })),
  }),
} as const

/** How a connection ends: closed by the editor, closed by the server, or broken. */
const ENDINGS = {
  'the editor closes it': (editor: TestEditor) => editor.leave(),
  'the server closes it': (editor: TestEditor) => editor.connection.close(),
  'nothing can be written': async (editor: TestEditor, session: Session) => {
    editor.breakWrites()
    await session.describe({ title: 'Something to tell' })
  },
} as const

const CASES = (['approval', 'question'] as const).flatMap((kind) =>
  [false, true].flatMap((experimentalV2) =>
    Object.keys(ENDINGS).map((ending) => [kind, ending as keyof typeof ENDINGS, experimentalV2] as const),
  ),
)

test.each(CASES)('an open %s stays open when %s, with version 2 on: %s', async (kind, ending, experimentalV2) => {
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'act', arguments: {} }] }, { text: 'Well.' }] })
  const agent = defineAgent({ name: 'shop', model, tools: [TOOLS[kind]] })
  const host = createHost({ agent })
  ends.push(() => host.stop())
  const open = async (answer: (kind: 'permit' | 'form') => object | Promise<object>): Promise<TestEditor> => {
    const parts: EditorParts = {
      agent,
      host,
      options: { experimentalV2 },
      capabilities: { elicitation: { form: {} } },
      permit: () => answer('permit'),
      app: (app: ClientApp) => app.onRequest(methods.client.elicitation.create, () => answer('form') as never), // as asked
    }
    const editor = await startEditor(parts)
    ends.push(() => editor.stop())
    return editor
  }
  const asked = Promise.withResolvers<void>()
  const first = await open(() => {
    asked.resolve()
    return new Promise(() => {})
  })
  const id = await first.open()
  first.prompt(id, 'Act').catch(() => {}) // its connection ends
  await asked.promise
  const session = await host.session(id, { principal: { id: 'local' } })
  await ENDINGS[ending](first, session)
  await first.connection.ended
  expect([(await session.approvals()).length, (await session.questions()).length]).toEqual(
    kind === 'approval' ? [1, 0] : [0, 1],
  )
  const second = await open((what) =>
    what === 'permit'
      ? { outcome: { outcome: 'selected', optionId: 'allow' } }
      : { action: 'accept', content: { name: 'Ann' } },
  )
  await second.agent.request(methods.agent.session.load, { sessionId: id, cwd: '/work/project', mcpServers: [] })
  for await (const event of session.events({ from: 'start' })) if (event.type === 'turn-finished') break
  expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain('Ann')
  expect(first.logged.filter((line) => /asked|answer/.test(line))).toEqual([])
})

test.each(Object.entries(ENDINGS))('a turn that is running when %s goes on to its end', async (_, end) => {
  const [began, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
  const act = tool({
    name: 'act',
    description: 'Acts.',
    input: EMPTY,
    execute: () => {
      began.resolve()
      return gate.promise
    },
  })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'act', arguments: {} }] }, { text: 'Well done.' }] })
  const agent = defineAgent({ name: 'shop', model, tools: [act] })
  const host = createHost({ agent })
  ends.push(() => host.stop())
  const first = await startEditor({ agent, host })
  ends.push(() => first.stop())
  const id = await first.open()
  first.prompt(id, 'Act').catch(() => {}) // its connection ends
  await began.promise
  const session = await host.session(id, { principal: { id: 'local' } })
  await end(first, session)
  await first.connection.ended
  gate.resolve('done')
  for await (const event of session.events({ from: 'start' })) if (event.type === 'turn-finished') break
  const second = await startEditor({ agent, host })
  ends.push(() => second.stop())
  await second.agent.request(methods.agent.session.load, { sessionId: id, cwd: '/work/project', mcpServers: [] })
  expect(second.text()).toBe('Well done.')
})
