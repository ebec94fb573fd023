// An editor in front of an agent that asks others: their approvals, questions and client tools reach it as its own, with the
// names of the agents.
import { methods } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { callsOf, choose, createApproved, createTeam, lastRead, place } from '../shared/team.test-kit.ts'
import type { EditorParts } from './acp.test-kit.ts'
import { startEditor } from './acp.test-kit.ts'
import { CALL_TOOL, CLIENT_TOOLS } from './wire.ts'

const pick = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })

function createPayers() {
  const ran: string[] = []
  const { agent, helper } = createTeam({
    steps: [callsOf('pay'), { text: 'Paid.' }],
    tools: [createApproved(ran, 'pay')],
  })
  return { agent, helper, ran }
}

test.each([
  ['allowed', 'allow', ['pay {}'], 'completed'],
  ['rejected', 'reject', [], 'failed'],
])('an approval below is %s by the editor, which reads whose it is', async (_, choice, expected, status) => {
  const { agent, ran } = createPayers()
  const editor = await startEditor({ agent, permit: () => pick(choice) })
  const session = await editor.open()
  expect(await editor.prompt(session, 'Pay.')).toBe('end_turn')
  expect(editor.asked).toMatchObject([{ toolCall: { title: 'helper › pay', rawInput: {} } }])
  expect(JSON.stringify(editor.asked[0]?.options)).toContain('Always allow helper › pay in this session')
  expect(ran).toEqual(expected)
  const id = editor.asked[0]?.toolCall.toolCallId
  const updates = editor.told.flatMap(({ update }) => ('toolCallId' in update ? [update] : []))
  expect(updates.findLast(({ toolCallId }) => toolCallId === id)).toMatchObject({ status })
  const delegated = updates.filter(({ toolCallId }) => toolCallId !== id)
  expect(JSON.stringify(delegated)).toContain('is waiting for an answer')
  expect(delegated.at(-1)).toMatchObject({ status: 'completed' })
  await editor.stop()
})

test('an editor changes the arguments of an approval below', async () => {
  const { agent, ran } = createPayers()
  const permit = () => ({ ...pick('allow'), _meta: { 'baton/input': { sum: 3 } } })
  const editor = await startEditor({ agent, permit })
  await editor.prompt(await editor.open(), 'Pay.')
  expect(ran).toEqual(['pay {"sum":3}'])
  await editor.stop()
})

test('an editor that loads the session is asked what agents below have asked', async () => {
  const { agent, ran } = createPayers()
  const gone = new Promise<never>(() => {})
  const first = await startEditor({ agent, permit: () => gone })
  const session = await first.open()
  first.prompt(session, 'Pay.').catch(() => {})
  await first.until(() => first.asked.length > 0)
  const { host } = first
  first.leave()
  const second = await startEditor({ agent, host })
  await second.agent.request(methods.agent.session.load, { sessionId: session, cwd: '/work/project', mcpServers: [] })
  await second.until(() => second.text() === 'Done.')
  expect(second.asked).toMatchObject([{ toolCall: { title: 'helper › pay' } }])
  expect(ran).toEqual(['pay {}'])
  await second.stop()
  await first.stop()
})

test('a question below is a form, at the delegated call', async () => {
  const { agent, helper } = createTeam({ steps: [callsOf('choose'), { text: 'Chosen.' }], tools: [choose] })
  const forms: unknown[] = []
  const app: EditorParts['app'] = (base) =>
    base.onRequest(methods.client.elicitation.create, ({ params }) => {
      forms.push(params)
      return { action: 'accept', content: { wine: 'red' } }
    })
  const editor = await startEditor({ agent, app, capabilities: { elicitation: { form: {} } } })
  await editor.prompt(await editor.open(), 'Choose.')
  const calls = editor.told.flatMap(({ update }) => (update.sessionUpdate === 'tool_call' ? [update.toolCallId] : []))
  expect(forms).toMatchObject([{ message: 'helper › Which?', toolCallId: calls[0] }])
  expect(lastRead(helper)).toContain('red')
  await editor.stop()
})

test.each([[true], [['place']]])('a client tool below runs at an editor that runs %s', async (runs) => {
  const { agent, helper } = createTeam({ steps: [callsOf('place'), { text: 'Seen.' }], tools: [place] })
  const asked: unknown[] = []
  const app: EditorParts['app'] = (base) =>
    base.onRequest(
      CALL_TOOL,
      (params) => params,
      ({ params }) => {
        asked.push(params)
        return { output: 'Rome' }
      },
    )
  const editor = await startEditor({ agent, app, capabilities: { _meta: { [CLIENT_TOOLS]: runs } } })
  await editor.prompt(await editor.open(), 'Where?')
  expect(asked).toMatchObject([{ name: 'place', input: {} }])
  expect(lastRead(helper)).toContain('Rome')
  await editor.stop()
})

test('a permission below that a cancelled prompt ends is withdrawn', async () => {
  const { agent, ran } = createPayers()
  const withdrawn = Promise.withResolvers<void>()
  const permit: EditorParts['permit'] = (_, signal) => {
    signal.addEventListener('abort', () => withdrawn.resolve())
    return new Promise<never>(() => {})
  }
  const editor = await startEditor({ agent, permit })
  const session = await editor.open()
  const stopped = editor.prompt(session, 'Pay.')
  await editor.until(() => editor.asked.length > 0)
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: session })
  expect(await stopped).toBe('cancelled')
  await withdrawn.promise
  expect(ran).toEqual([])
  await editor.stop()
})
