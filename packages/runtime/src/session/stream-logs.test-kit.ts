// Random logs of sessions, with the live pieces of their answers: early, repeated, with gaps, and of older attempts.
import type { LiveFrame } from '@baton/core/internal'
import { readText } from '@baton/core/internal'
import type { Fact, FactOf, SessionRecord, Spec } from '@baton/core/machine'
import type { ExploreOptions, Random } from '@baton/core/testing'
import { explore } from '@baton/core/testing'

export type Item =
  { readonly type: 'record'; readonly record: SessionRecord } | { readonly type: 'live'; readonly frame: LiveFrame }

/** Exploration invents progress that no answer continues from, which no model does. */
export function exploreLog(
  seed: number,
  options: Partial<ExploreOptions> = {},
): { readonly records: readonly SessionRecord[]; readonly spec: Spec } {
  const world = explore({ seed, inputs: 30, ...options }).world
  const facts = world.records.flatMap((record) => record.facts)
  const isTrue = (fact: Fact): boolean => {
    if (fact.type !== 'attempt-progressed') return true
    const own = facts.filter((other) => 'attempt' in other && other.attempt === fact.attempt)
    const finished = findFinish(own)
    return !finished || readText(finished.parts).startsWith(joinProgress(own))
  }
  const records = world.records.map((record) => ({ ...record, facts: record.facts.filter(isTrue) }))
  return { records, spec: world.spec }
}

/** Records with the pieces of each attempt among them: some early, late, repeated or missing. */
export function addPieces(records: readonly SessionRecord[], random: Random): readonly Item[] {
  const facts = records.flatMap((record) => record.facts)
  const items: Item[] = []
  let waiting: LiveFrame[] = []
  let old: LiveFrame[] = []
  const tell = (): void => {
    const frame = waiting.shift()
    if (frame && random.chance(0.95)) items.push({ type: 'live', frame })
  }
  for (const record of records) {
    while (waiting.length > 0 && random.chance(0.7)) tell()
    if (record.facts.some(endsAttempt)) {
      if (random.chance(0.5)) while (waiting.length > 0) tell()
      old = waiting
      waiting = []
    }
    for (const fact of record.facts)
      if (fact.type === 'model-started') {
        waiting = cutIntoPieces(fact.attempt, facts, random)
        while (waiting.length > 0 && random.chance(0.2)) tell()
      }
    items.push({ type: 'record', record })
    if (random.chance(0.1)) for (const frame of old) items.push({ type: 'live', frame })
    if (random.chance(0.05)) items.push({ type: 'live', frame: { type: 'tool-progress', callId: 'call', note: 'on' } })
  }
  return items
}

function endsAttempt(fact: Fact): boolean {
  return ['step-finished', 'step-salvaged', 'attempt-superseded', 'attempt-failed', 'turn-finished'].includes(fact.type)
}

function findFinish(facts: readonly Fact[]): FactOf<'step-finished'> | undefined {
  return facts.find((fact): fact is FactOf<'step-finished'> => fact.type === 'step-finished')
}

function joinProgress(facts: readonly Fact[]): string {
  let text = ''
  for (const fact of facts) if (fact.type === 'attempt-progressed') text = text.slice(0, fact.offset) + fact.text
  return text
}

type Cut = (offset: number, text: string) => LiveFrame

function cutIntoPieces(attempt: number, facts: readonly Fact[], random: Random): LiveFrame[] {
  const own = facts.filter((fact) => 'attempt' in fact && fact.attempt === attempt)
  const finished = findFinish(own)
  const progress = joinProgress(own)
  const final = finished ? readText(finished.parts) : ''
  const whole = finished?.interrupted === false ? finished : undefined
  // The text of an attempt that is void or cut off may have been longer.
  const said = whole ? final : (progress.length > final.length ? progress : final) + 'and more of it'
  const thought = whole
    ? whole.parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
    : random.chance(0.5)
      ? 'a thought'
      : ''
  const frames: LiveFrame[] = []
  const push = (all: string, cut: Cut): void => {
    for (let offset = 0; offset < all.length;) {
      const length = 1 + random.below(Math.max(1, Math.ceil(all.length / 3)))
      const frame = cut(offset, all.slice(offset, offset + length))
      frames.push(frame)
      if (random.chance(0.1)) frames.push(frame)
      offset += length
    }
  }
  push(thought, (offset, text) => ({ type: 'reasoning-delta', attempt, offset, text }))
  push(said, (offset, text) => ({ type: 'text-delta', attempt, offset, text }))
  const calls = (finished?.parts ?? []).filter((part) => part.type === 'call')
  for (const [index, { name, arguments: input }] of calls.entries())
    push(input, (offset, text) => ({ type: 'call-delta', attempt, index, name, offset, text }))
  return frames
}
