// The issue solver over HTTP with the AI SDK's own chat: the issue is read and planned, and closed after a person
// agrees.
import { Chat } from '@ai-sdk/react'
import { createScriptedModel } from '@baton/host/testing'
import type { UIMessage } from 'ai'
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { expect, onTestFinished, test } from 'vitest'
import type { SolverOptions } from './solver.ts'
import { startSolver } from './solver.ts'

async function open(options: SolverOptions = {}, body: object = {}) {
  const solver = await startSolver({ pageProgram: '', ...options })
  onTestFinished(solver.stop)
  const chat = new Chat<UIMessage>({
    transport: new DefaultChatTransport({ api: `${solver.url}api/chat`, body }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  return { solver, chat }
}

const parts = (chat: Chat<UIMessage>) => chat.messages.at(-1)?.parts ?? []
const texts = (chat: Chat<UIMessage>) => parts(chat).flatMap((part) => (part.type === 'text' ? part.text : []))

test('an issue is read, planned by the model, estimated by an Effect, and its branch named by a tool of the AI SDK', async () => {
  const { solver, chat } = await open()
  await chat.sendMessage({ text: 'Solve the issue.' })
  const calls = parts(chat).filter(isToolUIPart)
  expect(calls.map(({ type, state }) => `${type} ${state}`)).toEqual([
    'tool-GetIssueDetails output-available',
    'tool-CreateImplementationPlan output-available',
    'tool-plan.estimate output-available',
    'tool-branch.name output-available',
  ])
  expect(calls.map(({ output }) => output)).toMatchObject([
    { title: 'The cart forgets its items' },
    { writtenBy: 'model' },
    { hours: 6 },
    'fix/1-the-cart-forgets-its-items',
  ])
  const plan = parts(chat).find(({ type }) => type === 'data-plan')
  expect(plan).toMatchObject({ data: [{ content: 'Find where the cart is kept', status: 'pending' }, {}, {}] })
  expect(texts(chat).join('')).toContain('a plan of 3 steps')
  expect(solver.github?.violations).toEqual([])
})

test.each([
  [true, 'closed', 'The issue is closed.'],
  [false, 'open', 'UpdateIssueStatus did not work'],
])('an issue is closed after a person has said %s', async (approved, state, said) => {
  const { solver, chat } = await open()
  await chat.sendMessage({ text: 'Please close it.' })
  const [call] = parts(chat).filter(isToolUIPart)
  if (call?.state !== 'approval-requested') throw new Error(`no approval: ${call?.state}`)
  expect(solver.github?.issue('acme/shop', 1)?.state).toBe('open')
  await chat.addToolApprovalResponse({ id: call.approval.id, approved })
  await expect.poll(() => texts(chat).join('')).toContain(said)
  expect(solver.github?.issue('acme/shop', 1)?.state).toBe(state)
})

test('a page chooses a model from a list, and no other', async () => {
  const model = createScriptedModel({ id: 'one/allowed', steps: () => ({ text: 'Here.' }) })
  const allowed = await open({ model, models: ['one/allowed'] }, { model: 'one/allowed', temperature: 0.5 })
  await allowed.chat.sendMessage({ text: 'Hello' })
  expect(texts(allowed.chat)).toEqual(['Here.'])
  expect(model.requests[0]?.settings).toMatchObject({ temperature: 0.5 })
  const other = await open({ model, models: ['one/allowed'] }, { model: 'two/expensive' })
  await other.chat.sendMessage({ text: 'Hello' })
  expect(other.chat.error?.message).toContain('may not be chosen here')
})
