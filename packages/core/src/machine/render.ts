// How inputs and settlements read to a model.
import type { StoredPart, TextPart } from '../messages.ts'
import type { InputBody, Settlement } from './fact.ts'

function renderInput(body: InputBody): readonly StoredPart[] {
  switch (body.type) {
    case 'user':
      return body.parts.flatMap((part) => (part.type === 'text' && part.text.trim() === '' ? [] : [sendable(part)]))
    case 'transcript':
      return [text(`[Transcript] ${oneLine(body.speaker)}: ${oneLine(body.text)}`)]
    case 'urgent': {
      const detail = body.detail === undefined ? [] : [JSON.stringify(body.detail, null, 2)]
      const message = body.message === undefined ? [] : [body.message]
      return [text([`[Event] ${oneLine(body.name)}`, ...detail, ...message].join('\n'))]
    }
    default:
      return body satisfies never
  }
}

/** Folded, so that a speaker cannot forge another kind of line. */
function oneLine(said: string): string {
  return said.replace(/\s*[\r\n\v\f\u0085\u2028\u2029]+\s*/g, ' ').trim()
}

/** Neighbouring transcript lines become one text, a line each. */
export function renderInputs(bodies: readonly InputBody[]): readonly StoredPart[] {
  const parts: StoredPart[] = []
  let previous: InputBody | undefined
  for (const body of bodies) {
    const rendered = renderInput(body)
    const [first] = rendered
    const last = parts.at(-1)
    if (
      body.type === 'transcript' &&
      previous?.type === 'transcript' &&
      first?.type === 'text' &&
      last?.type === 'text'
    )
      parts[parts.length - 1] = text(`${last.text}\n${first.text}`)
    else parts.push(...rendered)
    previous = body
  }
  return parts
}

/** What the model is told of a call's end. */
export function renderSettlement(settlement: Settlement): readonly StoredPart[] {
  switch (settlement.type) {
    case 'ok':
      return settlement.content.map(sendable)
    case 'error':
    case 'denied':
      return [text(`Error: ${settlement.message === '' ? 'unknown' : settlement.message}`)]
    case 'timed-out':
      return [text('Error: tool_result_timeout')]
    case 'cancelled':
      return [text(`Error: cancelled (${settlement.begun ? 'it may have run' : 'it has no effect'})`)]
    case 'unknown': {
      const timedOut = settlement.reason === 'deadline' || settlement.reason === 'turn-over'
      return [text(`Error: ${timedOut ? 'tool_result_timeout' : 'tool_result_unknown'} (it may have run)`)]
    }
    default:
      return settlement satisfies never
  }
}

export function text(value: string): TextPart {
  return { type: 'text', text: wellFormed(value) }
}

/** Half a surrogate pair, as a tool leaves that cuts its text by length, is refused by every provider. */
export function wellFormed(value: string): string {
  return value.replace(/\p{Surrogate}/gu, '\ufffd')
}

function sendable(part: StoredPart): StoredPart {
  return part.type === 'text' ? { ...part, text: wellFormed(part.text) } : part
}
