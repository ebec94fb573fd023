// Rules that a history must follow for every provider: pairs, adjacency, order, nothing empty, a legal beginning.
import type { JsonValue } from '../json.ts'
import { isJsonObject, parseJson } from '../json.ts'
import type {
  AssistantMessage,
  CallPart,
  MediaSource,
  StoredMessage,
  StoredPart,
  ToolMessage,
  UserMessage,
} from '../messages.ts'

export interface HistoryIssue {
  readonly code: string
  readonly message: string
}

/** Issues of a history as it would be sent; if there are none, every provider's adapter can encode it. */
export function validateHistory(messages: readonly StoredMessage[]): readonly HistoryIssue[] {
  const issues: HistoryIssue[] = []
  const report = (code: string, index: number, why: string): void => {
    issues.push({ code, message: `message ${index}: ${why}` })
  }
  const seen = new Set<string>()
  messages.forEach((message, index) => {
    const previous = messages[index - 1]
    const next = messages[index + 1]
    if (message.role === 'user') checkUser(message, index, report)
    else if (message.role === 'assistant') {
      if (!previous) report('first-message', index, 'a history must begin with the user')
      if (previous?.role === 'assistant' && !mayContinue(previous))
        report('assistant-twice', index, 'an answer follows an answer that was not paused')
      checkAssistant({ message, next, index, seen }, report)
    } else {
      if (previous?.role !== 'assistant') report('orphan-results', index, 'results without the calls before them')
      else checkResults(previous, message, index, report)
    }
  })
  return issues
}

type Report = (code: string, index: number, why: string) => void

/** A provider pauses only around its own tools or within a text; an answer with calls is never continued. */
function mayContinue(message: AssistantMessage): boolean {
  return listCalls(message).length === 0
}

function checkUser(message: UserMessage<MediaSource>, index: number, report: Report): void {
  if (message.parts.length === 0) report('empty-message', index, 'a user message without parts')
  if (message.parts.some((part) => part.type === 'text' && part.text.trim() === ''))
    report('empty-text', index, 'a blank text part')
  message.parts.forEach((part) => checkContent(part, index, report))
}

function checkContent(part: StoredPart, index: number, report: Report): void {
  if (part.type === 'text' && hasLoneSurrogate(part.text)) report('broken-text', index, 'half of a surrogate pair')
}

interface Place {
  readonly message: AssistantMessage
  readonly next: StoredMessage | undefined
  readonly index: number
  readonly seen: Set<string>
}

function checkAssistant(place: Place, report: Report): void {
  const { message, next, index, seen } = place
  const says = message.parts.some(
    (part) => part.type !== 'reasoning' && part.type !== 'source' && !(part.type === 'text' && part.text === ''),
  )
  if (!says) report('empty-message', index, 'an answer that says nothing and calls nothing')
  for (const part of message.parts) {
    if (part.type === 'text' && part.text === '') report('empty-text', index, 'an empty text part')
    if (part.type === 'text' && hasLoneSurrogate(part.text)) report('broken-text', index, 'half of a surrogate pair')
    if (part.type === 'reasoning' && hasLoneSurrogate(part.text))
      report('broken-text', index, 'half of a surrogate pair in a thought')
    if (part.type !== 'call') continue
    if (seen.has(part.callId)) report('call-twice', index, `the call id ${part.callId} was used before`)
    seen.add(part.callId)
    const parsed = parseJson(part.arguments)
    if (!parsed.ok || !isJsonObject(parsed.value))
      report('bad-arguments', index, `the arguments of ${part.callId} are not a JSON object`)
    // With escaped halves combined, as a provider does when it parses them.
    if (hasLoneSurrogate(part.arguments) || (parsed.ok && holdsLoneSurrogate(parsed.value)))
      report('broken-text', index, `half of a surrogate pair in the arguments of ${part.callId}`)
  }
  if (listCalls(message).length > 0 && next?.role !== 'tool')
    report('missing-results', index, 'calls are not followed by their results')
}

function checkResults(
  assistant: AssistantMessage,
  message: ToolMessage<MediaSource>,
  index: number,
  report: Report,
): void {
  const calls = listCalls(assistant)
  const asked = calls.map((call) => `${call.callId} ${call.name}`).join(', ')
  const answered = message.parts.map((part) => `${part.callId} ${part.name}`).join(', ')
  if (asked !== answered) report('pairs', index, `calls [${asked}] are answered by [${answered}]`)
  for (const part of message.parts) part.content.forEach((content) => checkContent(content, index, report))
}

function listCalls(message: AssistantMessage): readonly CallPart[] {
  return message.parts.filter((part): part is CallPart => part.type === 'call')
}

function holdsLoneSurrogate(value: JsonValue): boolean {
  if (typeof value === 'string') return hasLoneSurrogate(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => hasLoneSurrogate(key) || holdsLoneSurrogate(inner))
}

function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}
