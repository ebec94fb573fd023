// Delivery events for fronts that write to devices, in addition to the conversation's: which client a call was offered
// to, who spoke, and each event's place in the log. Emitted only to readers that request them.
import type { Fact } from '../machine/fact.ts'
import type { ProjectedRecord } from './event-values.ts'
import { nameAnswer } from './projection-start.ts'
import type { EventBody, EventPlace } from './session-event.ts'

/** Completes the events emitted for a fact, which start at index `told`. */
export function addDelivery(
  events: EventBody[],
  told: number,
  { fact, index, record }: { readonly fact: Fact; readonly index: number; readonly record: ProjectedRecord },
): void {
  const more = readDelivery(fact)
  if (more) events.splice(told, 0, more)
  if (events.length === told) return
  const { pos, nowMs, wallMs } = record
  const at: EventPlace = { pos, fact: index, nowMs, ...(wallMs !== undefined && { wallMs }) }
  // Each event was created for this reader.
  for (let event = told; event < events.length; event++) Object.assign(events[event] ?? {}, { at })
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
