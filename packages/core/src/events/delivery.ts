// Delivery events for fronts that write to devices, in addition to the conversation's: which client a call was offered
// to, who spoke, and each event's place in the log. Emitted only to readers that request them.
import type { Fact } from '../machine/fact.ts'
import type { ProjectedRecord } from './projection-start.ts'
import { nameAnswer } from './projection-start.ts'
import type { EventBody, EventPlace } from './session-event.ts'

/**
 * The events of a record with delivery events and places. `starts` has the index of each fact's first event, then that
 * of the first event that belongs to no fact.
 */
export function addDelivery(
  { pos, nowMs, wallMs, facts }: ProjectedRecord,
  bodies: readonly EventBody[],
  starts: readonly number[],
): readonly EventBody[] {
  const placed: (EventBody & { readonly at?: EventPlace })[] = []
  for (const [index, fact] of facts.entries()) {
    const at: EventPlace = { pos, fact: index, nowMs, ...(wallMs !== undefined && { wallMs }) }
    const more = readDelivery(fact)
    if (more) placed.push({ ...more, at })
    for (const body of bodies.slice(starts[index], starts[index + 1])) placed.push({ ...body, at })
  }
  return [...placed, ...bodies.slice(starts.at(-1)).map((body) => ({ ...body }))]
}

function readDelivery(fact: Fact): EventBody | undefined {
  switch (fact.type) {
    case 'turn-started':
      return { type: 'turn-started', message: nameAnswer(fact.turn), turn: fact.turn }
    case 'display-written':
      return {
        type: 'answer-spoken',
        message: nameAnswer(fact.turn),
        turn: fact.turn,
        ...(fact.chars !== undefined && { chars: fact.chars }),
      }
    case 'interrupt-accepted':
      return { type: 'interrupted', reason: fact.reason }
    case 'call-offered':
      return { type: 'call-offered', callId: fact.callId, client: fact.connection, offer: fact.offer }
    case 'result-ignored':
      return { type: 'result-ignored', callId: fact.callId, reason: fact.reason }
    case 'host-restarted':
      return { type: 'clients-gone' }
    default:
      return undefined
  }
}
