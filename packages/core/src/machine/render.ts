// Texts for a model about inputs, steps and settlements, and for all readers about the end of a call: why it happened, and
// whether the tool may have had its effect.
import type { JsonObject } from '../json.ts'
import type {
  AssistantMessage,
  AssistantPart,
  MediaSource,
  ResultPart,
  StoredMessage,
  StoredPart,
  TextPart,
} from '../messages.ts'
import type { CallProposal, FactOf, InputBody, QuestionAnswer, Settlement } from './fact.ts'
import type { ErrorCode } from '../errors.ts'

function renderInput(body: InputBody): readonly StoredPart[] {
  switch (body.type) {
    case 'user':
      return body.parts.flatMap((part) => (part.type === 'text' && part.text.trim() === '' ? [] : [makeWhole(part)]))
    case 'transcript':
      return [text(`[Transcript] ${oneLine(body.speaker)}: ${oneLine(body.text)}`)]
    case 'urgent': {
      const detail = body.detail === undefined ? [] : [JSON.stringify(body.detail, null, 2)]
      const message = body.message === undefined ? [] : [body.message]
      // The log of another program may hold a label that no event could have.
      const label =
        oneLine(body.label ?? '')
          .replace(/[[\]]/g, ' ')
          .trim() || 'Event'
      return [text([`[${label}] ${oneLine(body.name)}`, ...detail, ...message].join('\n'))]
    }
    case 'task':
      return [text(renderTask(body))]
    default:
      return body satisfies never
  }
}

/** Quotes the words of a tool, because a person's words may appear in the same place. */
function renderTask({
  callId,
  name,
  outcome,
  text: words,
  cut,
}: Extract<InputBody, { readonly type: 'task' }>): string {
  const said = `[Task] The tool "${oneLine(name)}" (${callId}) ${describeTaskEnd(outcome)}: ${JSON.stringify(words)}`
  return cut ? `${said}\nThis is the beginning; tasks.read has all of it.` : said
}

export function describeTaskEnd(outcome: string): string {
  return outcome === 'ok' ? 'has ended in the background' : `has ended in the background (${outcome})`
}

/** Folds line breaks, so that a speaker cannot forge another kind of line. */
function oneLine(said: string): string {
  return said.replace(/\s*[\r\n\v\f\u0085\u2028\u2029]+\s*/g, ' ').trim()
}

/** Adjacent transcript lines become one text, one line each. */
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

/** Text for the model about a call's end. */
export function renderSettlement(settlement: Settlement): readonly StoredPart[] {
  switch (settlement.type) {
    case 'ok':
      return settlement.content.map(makeWhole)
    case 'error':
    case 'denied':
      return [text(`Error: ${settlement.message === '' ? 'unknown' : settlement.message}`)]
    case 'timed-out':
    case 'cancelled':
    case 'unknown': {
      if (settlement.type === 'cancelled' && settlement.detached)
        return [text('Still running. The user spoke meanwhile; a note will report the outcome.')]
      const { code, mayHaveRun } = describeEnd(settlement)
      // Apps of version 1 and their models know a time-out by these words.
      if (settlement.type === 'timed-out' && !mayHaveRun) return [text(`Error: ${code}`)]
      const why = settlement.type === 'unknown' && settlement.message !== undefined ? `: ${settlement.message}` : ''
      return [text(`Error: ${code} (${describeEffect(mayHaveRun)})${why}`)]
    }
    default:
      return settlement satisfies never
  }
}

export function text(value: string): TextPart {
  return { type: 'text', text: wellFormed(value) }
}

/** Replaces halves of surrogate pairs, left by tools that cut text by length; every provider refuses them. */
export function wellFormed(value: string): string {
  // Most strings have one byte per character: the test rejects them at once, and `replace` would not.
  return HALF.test(value) ? value.replace(/\p{Surrogate}/gu, '\ufffd') : value
}

const HALF = /[\ud800-\udfff]/

/**
 * Returns the part itself if it is well-formed. Provider state vouches for the original text, so it is dropped with a
 * replaced half.
 */
export function makeWhole<Part extends StoredPart | AssistantPart>(part: Part): Part {
  if (part.type !== 'text' && part.type !== 'reasoning' && part.type !== 'call') return part
  if (part.type === 'call') {
    const given = wellFormed(part.arguments)
    // Few arguments have escaped surrogates.
    const read = ESCAPED_HALF.test(given) ? replaceEscapedHalves(given) : given
    return read === part.arguments ? part : replaceText(part, { arguments: read })
  }
  const whole = wellFormed(part.text)
  return whole === part.text ? part : replaceText(part, { text: whole })
}

function replaceText<Part extends StoredPart | AssistantPart>(
  part: Part,
  text: { readonly text: string } | { readonly arguments: string },
): Part {
  const { state: _, ...bare } = part as Part & { readonly state?: unknown } // only some parts have one
  return { ...bare, ...text } as Part // the same part with another text
}

const ESCAPED_HALF = /\\ud[89a-f]/i

/** In JSON text, where a provider that parses it would find halves in its strings. */
function replaceEscapedHalves(json: string): string {
  return json.replace(
    /\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\(ud[89a-f][0-9a-f]{2})|\\./gi,
    (escape: string, half: string | undefined) => (half === undefined ? escape : '\\ufffd'),
  )
}

/** Thoughts or blanks alone are not an answer: providers refuse such a message. */
export function isVisible(parts: readonly AssistantPart[]): boolean {
  return parts.some(
    (part) => part.type === 'provider' || part.type === 'call' || (part.type === 'text' && part.text.trim() !== ''),
  )
}

/** Ends that the machine describes, not a tool or a person. */
export type SilentEnd = Extract<Settlement, { readonly type: 'timed-out' | 'cancelled' | 'unknown' }>

export interface CallEnd {
  readonly code: Extract<ErrorCode, 'tool_result_timeout' | 'tool_result_unknown' | 'cancelled'>
  /** For people and programs. */
  readonly message: string
  /** The tool may have had its effect. */
  readonly mayHaveRun: boolean
}

export function describeEnd(settlement: SilentEnd): CallEnd {
  const mayHaveRun = settlement.type === 'unknown' || settlement.begun === true
  const { reason = 'deadline' } = settlement
  const code = findCode(settlement.type, reason)
  const why = REASONS.get(reason) ?? 'the call ended without a result'
  if (settlement.type === 'unknown' && settlement.message !== undefined)
    return { code, message: `${settlement.message}: ${describeEffect(mayHaveRun)}`, mayHaveRun }
  // Older logs do not say whether a tool that timed out had begun.
  if (settlement.reason === undefined) return { code, message: why, mayHaveRun }
  return { code, message: `${why}: ${describeEffect(mayHaveRun)}`, mayHaveRun }
}

export function describeEffect(mayHaveRun: boolean): string {
  return mayHaveRun ? 'it may have run' : 'it has no effect'
}

function findCode(type: SilentEnd['type'], reason: string): CallEnd['code'] {
  if (type === 'cancelled') return 'cancelled'
  const isTimeout = type === 'timed-out' || reason === 'deadline' || reason === 'turn-over'
  return isTimeout ? 'tool_result_timeout' : 'tool_result_unknown'
}

/** Sentences by the reason in the log. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['deadline', 'no result came in the time of the call'],
  ['turn-over', 'the turn ended before a result arrived'],
  ['interrupt', 'the turn was interrupted'],
  ['grace-over', 'the turn was interrupted, and no result arrived in the remaining time'],
  ['stop', 'the session was stopped'],
  ['restart', 'the process that ran the tool died'],
  ['executor-lost', 'the executor of the tool died'],
  ['recovery_exhausted', 'each process that ran the tool died'],
  ['limit', 'the turn and its agents reached a limit'],
  ['tool-gone', 'its agent was removed'],
  ['rewind', 'the conversation was rewound'],
  ['nobody', 'no client could run it'],
  ['cancel', 'it was cancelled'],
  ['copied', 'it goes on in the conversation that this one was copied from'],
])

export interface OpenCall {
  readonly callId: string
  readonly name: string
  /** JSON text, as edited by a person if one did. */
  readonly arguments: string
  /** It has ended, and only waits for the other calls of its step. */
  readonly settled: boolean
  /** The description for people: a title, a kind, places, a diff. */
  readonly about?: JsonObject
}

/** An unanswered question of a tool. */
export interface OpenQuestion {
  readonly callId: string
  readonly questionId: string
  /** From 1, per call. */
  readonly n: number
  readonly message: string
  /** JSON Schema of the answer. */
  readonly schema: JsonObject
  readonly expiresAtMs: number
}

export interface SettledCall extends Pick<FactOf<'call-settled'>, 'settlement' | 'provenance' | 'detail'> {}

export interface AskedQuestion extends OpenQuestion {
  readonly answer?: QuestionAnswer
}

export interface PlainOpenBody {
  readonly step: number
  readonly exchange: number
  readonly parts: readonly AssistantPart[]
  /** See `AssistantMessage.rebased`. */
  readonly rebased: boolean
  /** The calls of the step that have a description or a provenance. */
  readonly described: readonly Pick<CallProposal, 'callId' | 'about' | 'provenance' | 'answer' | 'chooses'>[]
}

/** Its maps grow in place: a step may have thousands of calls. Snapshots copy them. */
export interface OpenBody extends PlainOpenBody {
  readonly edited: Map<string, string>
  readonly settlements: Map<string, SettledCall>
  /** Questions by id. */
  readonly questions: Map<string, AskedQuestion>
}

export function answerIn(fact: FactOf<'question-answered'>): QuestionAnswer {
  if ('value' in fact) return { value: fact.value }
  return { declined: fact.declined, ...(fact.reason !== undefined && { reason: fact.reason }) }
}

export function describeCalls(calls: readonly CallProposal[]): OpenBody['described'] {
  const described = calls.filter(({ about, provenance, chooses }) => about || provenance || chooses)
  return described.map(({ callId, about, provenance, answer, chooses }) => ({
    callId,
    ...(about && { about }),
    ...(provenance && { provenance }),
    ...(answer && { answer }),
    ...(chooses && { chooses }),
  }))
}

/** The approval of an answer is a call for people only: no model reads it. */
function withoutApproval(open: OpenBody): readonly AssistantPart[] {
  const approval = open.described.find(({ answer }) => answer)
  if (!approval) return open.parts
  return open.parts.filter((part) => part.type !== 'call' || part.callId !== approval.callId)
}

const MISSING: SettledCall = { settlement: { type: 'unknown', reason: 'missing' } }

export function stepMessages(full: OpenBody): readonly StoredMessage[] {
  const open = full.described.length > 0 ? { ...full, parts: withoutApproval(full) } : full
  const assistant: AssistantMessage = { role: 'assistant', parts: open.parts, ...(open.rebased && { rebased: true }) }
  const provenances = new Map(open.described.map(({ callId, provenance }) => [callId, provenance]))
  const results: ResultPart<MediaSource>[] = []
  for (const part of open.parts) {
    if (part.type !== 'call') continue
    const { callId, name } = part
    const { settlement, detail, ...source }: SettledCall = open.settlements.get(callId) ?? MISSING
    const edited = open.edited.get(callId)
    const rendered = renderSettlement(settlement)
    const said = detail === undefined ? rendered : [...rendered, text(detail)]
    const content = edited === undefined ? said : [text(`[A person changed the arguments to ${edited}]`), ...said]
    const isError = settlement.type !== 'ok' && !(settlement.type === 'cancelled' && settlement.detached)
    const provenance = source.provenance ?? provenances.get(callId)
    const result = { type: 'result', callId, name, isError, content } as const
    results.push(provenance ? { ...result, provenance } : result)
  }
  if (results.length > 0) return [assistant, { role: 'tool', parts: results }]
  return isVisible(open.parts) ? [assistant] : []
}
