// A session's records as readable lines: who said what and when, which calls ran, how they ended.
import type { StoredPart } from '@baton/core/internal'
import { readCallResult, readText } from '@baton/core/internal'
import type { Fact, FactOf, InputBody, SessionRecord } from '@baton/core/machine'
import { nameCall } from './name-call.ts'
import { askedAgain, describeResult, duration } from '../terminal/turn-display.ts'

/** Times are in this machine's time zone. */
export function logLines(records: readonly SessionRecord[]): readonly string[] {
  const seen: Seen = { day: '', calls: new Map(), turnMs: 0, model: '' }
  return records.flatMap((record) => record.facts.flatMap((fact) => factLines(fact, record, seen)))
}

interface Seen {
  day: string
  readonly calls: Map<string, { readonly name: string; startedMs: number }>
  turnMs: number
  model: string
}

/** Cells of the time column. */
export const LOG_MARGIN = 10
const MARGIN = ' '.repeat(LOG_MARGIN)

/** Durations are measured in session time; the times shown are those of the clock. */
function factLines(fact: Fact, { nowMs, wallMs }: SessionRecord, seen: Seen): readonly string[] {
  const said = buildSentence(fact, nowMs, seen)
  if (said === undefined) return []
  const { day, time } = formatMoment(wallMs ?? nowMs)
  const heading = day === seen.day ? [] : [day]
  seen.day = day
  const [first = '', ...rest] = said.split('\n')
  return [...heading, `${time}  ${first}`, ...rest.map((line) => `${MARGIN}${line}`.trimEnd())]
}

/** Returns `undefined` for facts that do not matter to a reader of the conversation. */
function buildSentence(fact: Fact, nowMs: number, seen: Seen): string | undefined {
  switch (fact.type) {
    case 'session-opened':
      return `session ${fact.session}, agent ${fact.agent}`
    case 'input-accepted':
      return bodyLine(fact.body)
    case 'turn-started':
      seen.turnMs = nowMs
      return undefined
    case 'step-finished':
      return stepLines(fact, nowMs, seen)
    case 'call-started':
    case 'call-claimed': {
      const call = seen.calls.get(fact.callId)
      if (call) call.startedMs = nowMs
      return undefined
    }
    case 'call-settled':
    case 'task-settled': {
      const call = seen.calls.get(fact.callId)
      if (fact.type === 'call-settled' && fact.task) return `> ${call?.name ?? fact.callId} continues in the background`
      const { mark, words } = describeResult(readCallResult(fact.settlement))
      const took = call ? ` ${duration(nowMs - call.startedMs)}` : ''
      return `${mark} ${call?.name ?? fact.callId}${took}${words}`
    }
    case 'approval-requested':
      return `? ${seen.calls.get(fact.callId)?.name ?? fact.callId} needs an approval`
    case 'request-relayed': {
      const { asking, path } = fact
      if (asking.type === 'question') return `? ${nameCall({ name: asking.message, path })}`
      const name = nameCall({ name: asking.name, path })
      seen.calls.set(asking.callId, { name, startedMs: nowMs })
      if (asking.type === 'call') return `> ${name} ${asking.arguments}`
      return `? ${name} ${asking.arguments} needs an approval`
    }
    case 'child-begun':
      return `> the agent ${fact.agent} begins`
    case 'child-lost':
      return `✗ its agent is lost: ${fact.message}`
    case 'approval-decided':
      return `${PAST[fact.decision]} by ${fact.principal}${fact.reason === undefined ? '' : `: ${fact.reason}`}`
    case 'turn-finished':
      return turnLine(fact, nowMs - seen.turnMs)
    default:
      return describeChange(fact)
  }
}

/** Changes of the session other than its messages. */
function describeChange(fact: Fact): string | undefined {
  switch (fact.type) {
    case 'model-set':
      return `switched to model ${fact.model}`
    case 'interrupt-accepted':
      return `interrupted: ${fact.reason}`
    case 'attempt-superseded':
      return `${askedAgain(fact.reason, false)}${fact.error ? ` (${fact.error.code}: ${fact.error.message})` : ''}`
    case 'result-ignored':
      return `a result was ignored: ${fact.reason}`
    case 'history-rewound':
      return `went back to exchange ${fact.exchange}`
    case 'task-cancelled':
      return `a call in the background was cancelled by ${fact.principal ?? `the ${fact.by}`}`
    case 'wakes-held':
      return `tasks alone began the last ${fact.used} turns: the next one waits for an input`
    case 'summary-finished':
      return 'older exchanges were replaced by a summary'
    case 'host-restarted':
      return `the host came back after ${duration(fact.downMs)}`
    case 'session-paused':
      return 'paused'
    case 'session-continued':
      return 'continued'
    case 'session-stopped':
      return 'stopped'
    case 'session-started':
      return 'started again'
    default:
      return undefined
  }
}

const PAST = { approve: 'approved', deny: 'denied', edit: 'changed and approved' } as const

function bodyLine(body: InputBody): string {
  if (body.type === 'user') return `you: ${contentText(body.parts)}`
  if (body.type === 'transcript') return `${body.speaker}: ${body.text}`
  if (body.type === 'task') return `task ${body.name} has ended (${body.outcome}): ${body.text}`
  return `event ${body.name}${body.message === undefined ? '' : `: ${body.message}`}`
}

function contentText(parts: readonly StoredPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : `[${part.type} ${part.mediaType}]`)).join('\n')
}

function stepLines(fact: FactOf<'step-finished'>, nowMs: number, seen: Seen): string | undefined {
  const text = readText(fact.parts).trim()
  const by = isSameModel(fact.model, seen.model) ? 'agent' : `agent (${fact.model})`
  const lines = text === '' ? [] : [`${by}: ${text}${fact.interrupted ? ' […]' : ''}`]
  if (text !== '') seen.model = fact.model
  for (const { callId, name, repairs } of fact.calls) {
    seen.calls.set(callId, { name, startedMs: nowMs })
    const part = fact.parts.find((each) => each.type === 'call' && each.callId === callId)
    const repaired = repairs ? ` (repaired: ${repairs.join(', ')})` : ''
    lines.push(`> ${name} ${part?.type === 'call' ? part.arguments : ''}`.trimEnd() + repaired)
  }
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** A server may report its model's name without the provider's. */
function isSameModel(one: string, other: string): boolean {
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`)
}

function turnLine({ turn, outcome, error }: FactOf<'turn-finished'>, tookMs: number): string {
  const why = error ? `: ${error.code}, ${error.message}` : ''
  return `turn ${turn} was ${outcome} in ${duration(tookMs)}${why}`
}

function formatMoment(nowMs: number): { readonly day: string; readonly time: string } {
  const at = new Date(nowMs)
  const two = (value: number): string => String(value).padStart(2, '0')
  return {
    day: `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`,
    time: [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':'),
  }
}
