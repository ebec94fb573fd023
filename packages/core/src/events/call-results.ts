// Ends of calls, and questions of tools, as events report them.
import { isDeeper } from '../json.ts'
import type { FactOf, Settlement } from '../machine/fact.ts'
import { describeEnd } from '../machine/render.ts'
import type { CallResult, EventBody } from './session-event.ts'

/** The end of a call, as events report it. */
export function readCallResult(settlement: Settlement, deniedByPerson = false): CallResult {
  switch (settlement.type) {
    case 'ok':
      // A log of a former version may hold a value that no front can write.
      if (settlement.value !== undefined && isDeeper(settlement.value))
        return { type: 'ok', content: settlement.content }
      return settlement as CallResult // it has the fields of the result
    case 'error':
      return settlement as CallResult // a settlement of these types has the fields of the result
    case 'denied': {
      const { type, code, message } = settlement
      return { type, code, message, ...(deniedByPerson && { byPerson: true }) }
    }
    case 'timed-out':
    case 'cancelled': {
      const { code, message } = describeEnd(settlement)
      const begun = settlement.begun && ({ begun: true } as const)
      if (settlement.type === 'timed-out') return { type: settlement.type, code, message, ...begun }
      return { type: settlement.type, code, message, ...begun, ...(settlement.detached && { detached: true }) }
    }
    case 'unknown': {
      const { code, message } = describeEnd(settlement)
      return { type: settlement.type, code, message }
    }
    default:
      return settlement satisfies never
  }
}

/** Words about what the session below did follow the message. */
export function withDetail(result: CallResult, detail: string | undefined): CallResult {
  if (detail === undefined || result.type === 'ok') return result
  return { ...result, message: `${result.message} ${detail}` }
}

export function readQuestion(fact: FactOf<'question-asked' | 'question-answered'>): EventBody {
  const { questionId, callId } = fact
  if (fact.type === 'question-asked') {
    const { type, message, schema, expiresAtMs } = fact
    return { type, questionId, callId, message, schema, expiresAtMs }
  }
  const answer = 'value' in fact ? { value: fact.value } : { declined: fact.declined }
  return { type: fact.type, questionId, callId, ...answer }
}
