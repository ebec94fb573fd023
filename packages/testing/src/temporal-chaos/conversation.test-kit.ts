// A conversation with parallel tools, a client tool, an approval, an interrupt and a summary, and what must hold for it
// whatever dies meanwhile.
import type { Host, Session, SessionEvent } from '@baton/core'
import type { Fact, SessionRecord } from '@baton/core/machine'
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { TALK } from './chaos-agent.ts'

/** Messages, in this order. */
const SAID = ['use them all', TALK, 'once more', 'and again', 'the last one'] as const

export interface Held {
  /** Calls handed to a client, once per request. */
  readonly looked: readonly string[]
}

/** Plays it to its end. @throws if a turn does not end */
export async function converse(host: Host, id: string): Promise<Held> {
  const looked: string[] = []
  const session = await host.session(id)
  const look = (_: unknown, { callId }: { readonly callId: string }): string => {
    looked.push(callId)
    return 'seen'
  }
  await session.attach({ 'client.look': look } as Parameters<Session['attach']>[0])
  for (const [index, text] of SAID.entries()) await take(session, text, `input-${index}`)
  await session.close()
  return { looked }
}

async function take(session: Session, text: string, inputId: string): Promise<void> {
  const turn = session.send(text, { inputId })
  turn.answer.catch(() => {})
  let words = 0
  for await (const event of turn) {
    if (event.type === 'approval-requested') await session.decide({ approvalId: event.approvalId, decision: 'approve' })
    if (event.type === 'text' && text === TALK && (words += 1) === 10) await session.interrupt()
  }
  const answer = await turn.answer
  expect(['answered', 'interrupted']).toContain(answer.outcome)
  if (text !== TALK) expect(answer.text).toMatch(/^done: (server|client)/)
}

export interface Checked {
  readonly turns: number
  readonly calls: number
  readonly unknown: number
}

/** Checks the log and the effects. */
export function checkConversation(records: readonly SessionRecord[], effectsFile: string, { looked }: Held): Checked {
  const facts: readonly Fact[] = records.flatMap((record) => record.facts)
  expect(records.map(({ pos }) => pos)).toEqual(records.map((_, index) => index))
  const settled = facts.filter((fact) => fact.type === 'call-settled')
  const proposed = facts.filter((fact) => fact.type === 'step-finished').flatMap(({ calls }) => calls)
  expect(settled.map(({ callId }) => callId).toSorted()).toEqual(proposed.map(({ callId }) => callId).toSorted())
  const finished = facts.filter((fact) => fact.type === 'turn-finished')
  expect(finished).toHaveLength(SAID.length)
  expect(facts.filter((fact) => fact.type === 'input-accepted')).toHaveLength(SAID.length)
  const lines = readEffects(effectsFile).filter((line) => proposed.some(({ callId }) => line.endsWith(`/${callId}`)))
  for (const { callId, name } of proposed) {
    const own = lines.filter((line) => line.endsWith(`/${callId}`)).length
    const outcome = settled.find((fact) => fact.callId === callId)?.settlement.type
    if (name === 'server.once' || name === 'server.asked') expect(own).toBeLessThanOrEqual(1)
    if (outcome === 'ok' && name.startsWith('server.')) expect(own).toBeGreaterThanOrEqual(1)
    if (name === 'client.look') expect(looked.filter((one) => one === callId)).toHaveLength(1)
  }
  const unknown = settled.filter(({ settlement }) => settlement.type === 'unknown').length
  return { turns: finished.length, calls: proposed.length, unknown }
}

function readEffects(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}

/** Checks that no text comes twice for a reader who starts at the beginning. */
export async function readTwice(session: Session): Promise<void> {
  const texts = new Map<string, string>()
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'live') break
    addText(texts, event)
  }
  for (const text of texts.values()) expect(text).not.toMatch(/(done: .*)\1/)
}

function addText(texts: Map<string, string>, event: SessionEvent): void {
  if (event.type === 'step-reset') texts.delete(`${event.message}/${event.step}`)
  if (event.type !== 'text') return
  const key = `${event.message}/${event.step}`
  const before = texts.get(key) ?? ''
  expect(event.offset).toBe(before.length)
  texts.set(key, before + event.text)
}
