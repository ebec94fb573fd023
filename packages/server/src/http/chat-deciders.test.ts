// Pages of `useChat` with a call that a manager decides: the page shows the deciders, and offers its user no decision.
import type { Principal } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { Deciders } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { findTool, readTexts, settled, startChats } from './chat.test-kit.ts'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

const ANN: Principal = { id: 'ann' }
const MIA: Principal = { id: 'mia', roles: ['manager'] }

function start(deciders: Deciders, calls: readonly string[] = ['pay']) {
  const done: string[] = []
  const make = (name: string, who?: Deciders) =>
    tool({
      name,
      description: name,
      input: { type: 'object' },
      approval: true,
      ...(who && { deciders: who }),
      execute: () => {
        done.push(name)
        return 'done'
      },
    })
  const model = createScriptedModel({
    steps: [{ calls: calls.map((name) => ({ name, arguments: {} })) }, { text: 'All is done.' }],
  })
  const agent = defineAgent({ name: 'desk', model, tools: [make('pay', deciders), make('tell')] })
  const chats = startChats({ agent, handler: { authenticate: () => ANN } })
  running.push(chats)
  const decide = async (by: Principal, decision: 'approve' | 'deny'): Promise<void> => {
    const [asked] = (await chats.host.approvals({ tool: 'pay' })).approvals
    await chats.host.decide('trip', { approvalId: asked?.approvalId ?? '', decision, note: 'a note' }, { by })
  }
  return { ...chats, decide, done }
}

const WAITS = { state: 'output-available', output: { status: 'awaiting-approval' } }

type Shown = readonly Readonly<Record<string, unknown>>[]
const findOthers = (message: { readonly parts: readonly object[] } | undefined): Shown =>
  ((message?.parts ?? []) as Shown).filter(({ type }) => type === 'data-approval') // parts of JSON

test('a call that a manager decides is shown with its deciders, and its answer continues once it is decided', async () => {
  const { openPage, fetch, decide, done } = start({ roles: ['manager'] })
  const page = openPage('trip')
  const sending = page.sendMessage({ text: 'Pay the invoice.' })
  await settled(page, () => findOthers(page.messages.at(-1)).length > 0)
  const [shown] = findOthers(page.messages.at(-1))
  expect(shown?.['data']).toMatchObject({ name: 'pay', deciders: { roles: ['manager'] } })
  expect(findTool(page, 'pay')).toMatchObject(WAITS)
  const loaded = (await (await fetch('/api/sessions/trip/messages')).json()) as typeof page
  expect(loaded.messages.at(-1)?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'tool-pay', ...WAITS },
    { type: 'data-approval', id: shown?.['id'], data: { name: 'pay', deciders: { roles: ['manager'] } } },
  ])
  await decide(MIA, 'approve')
  await sending
  expect([readTexts(page).at(-1), done]).toEqual(['All is done.', ['pay']])
  const decided = { decision: 'approve', principal: { id: 'mia' }, note: 'a note' }
  expect(findOthers(page.messages.at(-1))).toMatchObject([{ id: shown?.['id'], data: decided }])
})

test('the user decides the own call beside one of others, and the page does not send again and again', async () => {
  const { openPage, decide, done } = start({ roles: ['manager'] }, ['tell', 'pay'])
  const page = openPage('trip')
  await page.sendMessage({ text: 'Pay, and tell.' })
  const { approval } = findTool(page, 'tell') as { readonly approval: { readonly id: string } }
  expect(findTool(page, 'pay')).toMatchObject(WAITS)
  await page.addToolApprovalResponse({ id: approval.id, approved: true })
  await expect.poll(() => done).toEqual(['tell'])
  await decide(MIA, 'deny')
  await settled(page, () => readTexts(page).at(-1) === 'All is done.')
  expect(findTool(page, 'pay')).toMatchObject({ state: 'output-error' })
  expect(done).toEqual(['tell'])
})

test('an owner who has approved as the first of two is not offered it again', async () => {
  const { openPage, fetch, decide, done } = start({ people: ['ann', 'mia'], needed: 2 })
  const page = openPage('trip')
  await page.sendMessage({ text: 'Pay the invoice.' })
  const { approval } = findTool(page, 'pay') as { readonly approval: { readonly id: string } }
  await page.addToolApprovalResponse({ id: approval.id, approved: true })
  const load = async () => ((await (await fetch('/api/sessions/trip/messages')).json()) as typeof page).messages.at(-1)
  await expect.poll(async () => findOthers(await load())).toHaveLength(1)
  expect((await load())?.parts).toMatchObject([{}, { type: 'tool-pay', ...WAITS }, {}])
  await decide(MIA, 'approve')
  await settled(page, () => readTexts(page).at(-1) === 'All is done.')
  expect(done).toEqual(['pay'])
})
