// Parses records of Gemini CLI session files: `session-….json`, and the newer `.jsonl`, which repeats a message each
// time it has grown. Source: packages/core/src/services/chatRecordingService.ts and chatRecordingTypes.ts of
// https://github.com/google-gemini/gemini-cli, seen 2026-11-28.
import type { HistoryEvent, ReadLine, ReadSessionLine, SessionFacts, TokenCount } from './session-events.ts'
import { countOf, filesOf, isRecord, listOf, textOf, timeOf } from './session-events.ts'

type Line = Readonly<Record<string, unknown>>

/** Members of a session other than messages. */
const MEMBERS: ReadonlySet<string> = new Set(
  'sessionId projectHash startTime lastUpdated summary kind directories activeExtensionName memoryScratchpad'.split(
    ' ',
  ),
)

/** @returns a reader for one file; the first record says whether the session belongs to a subagent */
export function createGeminiReader(): ReadSessionLine {
  let isSidechain = false
  return (line) => {
    const head = isRecord(line['$set']) ? line['$set'] : line
    if (head['kind'] === 'subagent') isSidechain = true
    const read = readRecord(line, head)
    return isSidechain
      ? { ...read, events: read.events.map((event) => ({ ...event, isSidechain: true as const })) }
      : read
  }
}

function readRecord(line: Line, head: Line): ReadLine {
  const rewound = textOf(line['$rewindTo'])
  if (rewound !== undefined)
    return {
      events: [{ role: 'note', type: 'text', text: `[the conversation was rewound to before message ${rewound}]` }],
    }
  if (textOf(line['id']) !== undefined || textOf(line['type']) !== undefined) return readMessage(line)
  if (!Object.keys(head).some((name) => MEMBERS.has(name) || name === 'messages'))
    return { events: [], unknown: Object.keys(head)[0] ?? 'no type' }
  const atMs = timeOf(head['startTime'])
  // After a summary, or when results were masked, the whole history is repeated.
  const events = listOf(head['messages']).flatMap((message) => readMessage(message).events)
  return { ...(atMs !== undefined && { atMs }), events, facts: readFacts(head) }
}

function readFacts({ sessionId, summary }: Line): SessionFacts {
  const [id, title] = [textOf(sessionId), textOf(summary)]
  return { ...(id !== undefined && { id }), ...(title !== undefined && { title: { text: title, rank: 1 } }) }
}

function readMessage(message: Line): ReadLine {
  const type = textOf(message['type'])
  const atMs = timeOf(message['timestamp'])
  const time = atMs === undefined ? {} : { atMs }
  const id = textOf(message['id'])
  const withKeys = (events: readonly HistoryEvent[]): readonly HistoryEvent[] =>
    id === undefined
      ? events
      : events.map((event, index) => ({ ...event, key: event.key ?? `${id} ${event.type} ${index}` }))
  switch (type) {
    case 'user':
      return { ...time, events: withKeys(readParts(message['displayContent'] ?? message['content'], 'user')) }
    case 'gemini': {
      const model = textOf(message['model'])
      const events = [
        ...withKeys(listOf(message['thoughts']).flatMap(readThought)),
        ...withKeys(readParts(message['content'], 'assistant')),
        ...listOf(message['toolCalls']).flatMap(readCall),
      ]
      const tokens = readTokens(message['tokens'])
      return {
        ...time,
        events,
        ...(model !== undefined && { facts: { model } }),
        ...(tokens && { tokens, ...(id !== undefined && { tokensKey: id }) }),
      }
    }
    case 'info':
    case 'warning':
    case 'error': {
      const isError = type === 'error' ? { isError: true as const } : {}
      return {
        ...time,
        events: withKeys(readParts(message['content'], 'note').map((event) => ({ ...event, ...isError }))),
      }
    }
    default:
      return { ...time, events: [], unknown: type ?? 'no type' }
  }
}

/** Start of the content that the program adds for files referenced with `@`. */
const REFERENCED = /^\s*--- Content from referenced files ---/
/** Messages that Gemini CLI itself writes on the user's behalf. */
const SCAFFOLD =
  /^\s*(<(session_context|state_snapshot|environment_context|hook_context)>|This is the Gemini CLI\. We are setting up the context|System: )/

function readParts(content: unknown, role: 'user' | 'assistant' | 'note'): readonly HistoryEvent[] {
  let isAdded = false
  return partsOf(content).flatMap((part): readonly HistoryEvent[] => {
    if (isRecord(part['functionResponse'])) return [readResult(part['functionResponse'], {})]
    if (part['inlineData'] !== undefined || part['fileData'] !== undefined)
      return [{ role, type: 'image', text: '[image]' }]
    const text = textOf(part['text'])
    if (text === undefined) return []
    isAdded ||= role === 'user' && REFERENCED.test(text)
    if (part['thought'] === true) return [{ role, type: 'reasoning', text }]
    return [{ role: isAdded || (role === 'user' && SCAFFOLD.test(text)) ? 'note' : role, type: 'text', text }]
  })
}

/** A list of parts, a single part, or a string; a list may also contain strings. */
function partsOf(content: unknown): readonly Line[] {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content]
  return parts.map((part) => (typeof part === 'string' ? { text: part } : part)).filter(isRecord)
}

function readThought({ subject, description }: Line): readonly HistoryEvent[] {
  const text = [subject, description].flatMap((piece) => textOf(piece) ?? []).join('\n')
  return text === '' ? [] : [{ role: 'assistant', type: 'reasoning', text }]
}

function readCall(call: Line): readonly HistoryEvent[] {
  const { args, status, result, resultDisplay } = call
  const id = textOf(call['id'])
  const files = filesOf(args, ['file_path', 'absolute_path'])
  const shown: HistoryEvent = {
    role: 'assistant',
    type: 'call',
    text: JSON.stringify(args ?? {}),
    tool: textOf(call['name']) ?? 'unknown',
    ...(id !== undefined && { callId: id, key: `call ${id}` }),
    ...(files.length > 0 && { files }),
  }
  const answer = partsOf(result).find((part) => isRecord(part['functionResponse']))?.['functionResponse']
  const text = isRecord(answer) ? undefined : (textOf(resultDisplay) ?? textOf(partsOf(result)[0]?.['text']))
  if (text === undefined && !isRecord(answer)) return [shown]
  const told = isRecord(answer) ? answer : { response: { output: text } }
  return [shown, readResult({ ...told, ...(id !== undefined && { id }) }, status === 'error' ? { isError: true } : {})]
}

function readResult({ id, response }: Line, failed: { readonly isError?: true }): HistoryEvent {
  const { output, error } = isRecord(response) ? response : {}
  const text = textOf(output) ?? textOf(error) ?? (isRecord(response) ? JSON.stringify(response) : '')
  const isError = failed.isError === true || textOf(error) !== undefined
  return {
    role: 'tool',
    type: 'result',
    text,
    ...(textOf(id) !== undefined && { callId: String(id) }),
    ...(isError && { isError: true as const }),
  }
}

/** `input` includes cache reads; `output` excludes thinking. */
function readTokens(tokens: unknown): TokenCount | undefined {
  if (!isRecord(tokens)) return undefined
  const cacheRead = countOf(tokens['cached'])
  return {
    input: Math.max(0, countOf(tokens['input']) - cacheRead) + countOf(tokens['tool']),
    output: countOf(tokens['output']) + countOf(tokens['thoughts']),
    cacheRead,
    cacheWrite: 0,
  }
}
