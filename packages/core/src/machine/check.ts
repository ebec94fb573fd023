// Whether an input is well-formed and allowed, without deciding anything. Fronts and workflows check before they
// accept.
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { StoredPart } from '../messages.ts'
import { isAttached } from './effect.ts'
import { checkReport } from './children.ts'
import { countFixedTools } from './clients.ts'
import { checkTold } from './parent.ts'
import { checkAnswer, checkApproval, checkQuestion } from './people.ts'
import { callOutcome } from './calls.ts'
import type { Input, InputOf } from './input.ts'
import type { Refusal } from '../errors.ts'
import { findLargeMedia, heldChars, jsonChars } from './size.ts'
import { urgentChars } from './queue.ts'
import { RULES } from './spec.ts'
import type { Spec } from './spec.ts'
import type { State } from './state.ts'
import { findCall, readTurnOf } from './state.ts'
import { SESSION_TABLE } from './table.ts'
import { checkCancelReminder, checkDue, checkReminder, REMINDER_INPUT } from './reminders.ts'
import { TASK_INPUT } from './task-entries.ts'
import { checkCancel } from './task-tools.ts'
import type { Heard } from './values.ts'

/**
 * Returns undefined if the input may be decided. A repeated input is always allowed: it gets the same answer as before.
 */
export function check(spec: Spec, state: State, input: Input): Refusal | undefined {
  return seenAt(state, input) === undefined ? checkNew(spec, state, input) : undefined
}

/** The same for an input with a new id. */
export function checkNew(spec: Spec, state: State, input: Input): Refusal | undefined {
  // Requests and calls are checked by name first: that is more specific than an error about the phase.
  const unbound =
    input.type === 'approval'
      ? checkApproval(state, input)
      : input.type === 'question-answer'
        ? checkAnswer(state, input)
        : input.type === 'call-claimed'
          ? checkClaim(state, input)
          : input.type === 'cancel-call'
            ? checkCancel(state, input)
            : undefined
  if (unbound) return unbound
  const reserved = 'inputId' in input ? findReservedStart(input.inputId) : undefined
  if (reserved !== undefined) return { code: 'illegal_input', message: reserved }
  const cell = SESSION_TABLE[input.type][state.phase]
  if ('refuse' in cell)
    return { code: cell.refuse, message: `"${input.type}" is not allowed while the session is ${state.phase}` }
  const unread = 'heard' in input && input.heard ? checkHeard(state, input.heard) : undefined
  if (unread) return unread
  switch (input.type) {
    case 'user-input':
      return checkParts(spec, state, input.parts, input.output)
    case 'urgent-event':
      return checkText(spec, state, urgentChars(input), input.name === '')
    case 'transcript':
      if (input.text.trim() === '') return { code: 'invalid_transcript', message: 'the transcript has no text' }
      return checkText(spec, state, input.speaker.length + input.text.length, false)
    case 'interrupt':
      return checkInterrupted(state, input)
    case 'describe':
      return checkDescription(input)
    case 'rewind':
      return checkRewind(spec, state, input)
    case 'withdraw':
      return checkWithdrawal(state, input)
    case 'set-reminder':
      return checkReminder(state, input)
    case 'cancel-reminder':
      return checkCancelReminder(state, input)
    case 'reminder-due':
      return checkDue(input)
    case 'question-asked':
      return checkQuestion(input)
    case 'client-attached':
      return checkClient(state, input)
    case 'client-tools':
      return checkClientTools(state, input)
    case 'child-reported':
      return checkReport(state, input)
    case 'parent-told':
      return checkTold(state, input)
    default:
      return undefined
  }
}

/** Why an input from outside may not have this id; undefined if it may. */
export function findReservedStart(inputId: string): string | undefined {
  const start = [TASK_INPUT, REMINDER_INPUT].find((reserved) => inputId.startsWith(reserved))
  if (start === undefined) return undefined
  return `ids of inputs may not begin with "${start}": those are of ${start === TASK_INPUT ? 'tasks' : 'reminders'}`
}

/** The position at which an input with this id was accepted, if it was one of the last ${RULES.remembered}. */
export function seenAt(state: State, input: Input): number | undefined {
  if (!('inputId' in input)) return undefined
  const { inputId } = input
  // Usually all of them are compared: different ids differ at the end, so the last character is a cheap test.
  const last = inputId.length - 1
  const code = inputId.charCodeAt(last)
  for (const { inputId: other, pos } of state.recentInputs)
    if (other.length === last + 1 && (last < 0 || other.charCodeAt(last) === code) && other === inputId) return pos
  return undefined
}

type Remembered = State['recentInputs']

/**
 * An index of accepted inputs, for a host that decides one input after another. It answers like `seenAt`. Use it if a
 * state remembers many inputs: comparing all their ids costs more than the rest of a short decision.
 */
export class SeenInputs {
  #list: Remembered = []
  #ids: Set<string> | undefined

  find(state: State, input: Input): number | undefined {
    const { recentInputs } = state
    if (!('inputId' in input)) return undefined
    if (recentInputs !== this.#list) this.#follow(recentInputs)
    return this.#ids?.has(input.inputId) === true ? seenAt(state, input) : undefined
  }

  /** Usually one id was added and the oldest was dropped. */
  #follow(list: Remembered): void {
    const before = this.#list
    this.#list = list
    const gone = before.length + 1 - list.length
    const [oldest] = before
    const last = list.at(-1)
    const isNext = (gone === 0 || gone === 1) && list[0] === before[gone] && list.at(-2) === before.at(-1)
    if (!this.#ids || !isNext || !oldest || !last) {
      this.#ids = new Set(list.map(({ inputId }) => inputId))
      return
    }
    if (gone === 1) this.#ids.delete(oldest.inputId)
    this.#ids.add(last.inputId)
  }
}

function checkParts(spec: Spec, state: State, parts: readonly StoredPart[], output?: JsonObject): Refusal | undefined {
  const large = findLargeMedia(parts, spec.limits)
  if (large !== undefined) return { code: 'input_too_large', message: large }
  const isBlank = parts.every((part) => part.type === 'text' && part.text.trim() === '')
  return checkText(spec, state, heldChars(parts), isBlank) ?? (output && checkOutput(spec, state, output))
}

function checkOutput({ limits }: Spec, { queue }: State, output: JsonObject): Refusal | undefined {
  const chars = jsonChars(output)
  const message = `the output schema has ${chars} characters as JSON; at most ${RULES.outputChars} are allowed`
  if (chars > RULES.outputChars) return { code: 'input_too_large', message }
  if (output['type'] !== 'object')
    return { code: 'invalid_schema', message: 'the output schema’s root must have type "object"' }
  const waiting = queue.reduce((sum, item) => sum + item.heldChars, 0)
  if (waiting + chars <= limits.queueChars) return undefined
  return { code: 'queue_full', message: `${waiting} characters of inputs are already waiting` }
}

function checkText(spec: Spec, state: State, chars: number, empty: boolean): Refusal | undefined {
  const { inputChars, queueInputs, queueChars } = spec.limits
  if (empty) return { code: 'invalid_event', message: 'the input is empty' }
  if (chars > inputChars)
    return { code: 'input_too_large', message: `the input has ${chars} characters; at most ${inputChars} are allowed` }
  if (state.queue.length >= queueInputs)
    return { code: 'queue_full', message: `${queueInputs} inputs are already waiting` }
  const waiting = state.queue.reduce((sum, item) => sum + item.heldChars, 0)
  if (waiting + chars > queueChars)
    return { code: 'queue_full', message: `${waiting} characters of inputs are already waiting` }
  return undefined
}

function checkInterrupted({ counters }: State, { turn }: InputOf<'interrupt'>): Refusal | undefined {
  if (turn === undefined || turn <= counters.turn) return undefined
  return { code: 'invalid_event', message: `the session has no turn ${turn} yet` }
}

function checkDescription({ title, meta }: InputOf<'describe'>): Refusal | undefined {
  const refuse = (message: string): Refusal => ({ code: 'invalid_event', message })
  if (typeof title === 'string' && title.length > RULES.titleChars)
    return refuse(`a title may have at most ${RULES.titleChars} characters, not ${title.length}`)
  if (meta === undefined || (isJsonObject(meta) && jsonChars(meta) <= RULES.metaChars)) return undefined
  return refuse(`meta must be a JSON object of at most ${RULES.metaChars} characters`)
}

function checkRewind(spec: Spec, state: State, input: InputOf<'rewind'>): Refusal | undefined {
  if (state.turn && !input.interrupt)
    return { code: 'turn_in_progress', message: 'the session has a running turn; rewind with interrupt to end it' }
  if (input.again && input.replace)
    return { code: 'invalid_event', message: 'a rewind may have `again` or `replace`, not both' }
  if (input.again && state.phase === 'paused')
    return { code: 'illegal_input', message: 'a paused session cannot ask again' }
  const index = input.index ?? state.index
  if (!index.some((entry) => entry.exchange === input.exchange && entry.role === 'user'))
    return { code: 'unknown_exchange', message: `the history has no exchange ${input.exchange}` }
  const { exchange, fromEntry = 0 } = input
  const asks = index.some((entry) => entry.exchange === exchange && entry.role === 'user' && entry.entry >= fromEntry)
  if (input.again && !asks)
    return {
      code: 'unknown_exchange',
      message: `exchange ${exchange} has no input from entry ${fromEntry} on to ask again`,
    }
  return input.replace && checkParts(spec, state, input.replace.parts)
}

function checkWithdrawal({ queue }: State, { target }: InputOf<'withdraw'>): Refusal | undefined {
  if (queue.some(({ inputId }) => inputId === target)) return undefined
  return {
    code: 'unknown_input',
    message: `no input "${target.slice(0, 100)}" is queued: it was already read, or is unknown`,
  }
}

function checkClient(state: State, input: InputOf<'client-attached'>): Refusal | undefined {
  const { connection, principal, leaseMs } = input
  if (state.principal !== '' && principal !== state.principal)
    return { code: 'unauthorized', message: 'the session belongs to another principal' }
  if (leaseMs !== undefined && !(leaseMs > 0 && leaseMs <= RULES.leaseMs))
    return { code: 'invalid_event', message: `leaseMs must be above 0 and at most ${RULES.leaseMs}, not ${leaseMs}` }
  const known = state.clients.find((client) => client.connection === connection)
  if (known && known.principal !== principal)
    return { code: 'unauthorized', message: `the connection ${connection} belongs to another principal` }
  if (known || state.clients.length < RULES.clients) return undefined
  return { code: 'rate_limited', message: `a session accepts ${RULES.clients} clients at once` }
}

function checkClientTools(state: State, { connection, tools }: InputOf<'client-tools'>): Refusal | undefined {
  if (!isAttached(state, connection))
    return { code: 'illegal_input', message: `the client ${connection} is not attached, so it cannot provide tools` }
  if (tools.length > RULES.clientTools)
    return { code: 'invalid_event', message: `a client may provide ${RULES.clientTools} tools, not ${tools.length}` }
  const others = countFixedTools(state, connection)
  if (others + tools.length <= RULES.clientTools) return undefined
  const most = `a session accepts ${RULES.clientTools} client tools at once`
  return { code: 'rate_limited', message: `${most}; the other clients provide ${others}` }
}

/** Clients handle a settled call differently from another client's call, so the codes differ. */
function checkClaim(state: State, { callId, offer, connection }: InputOf<'call-claimed'>): Refusal | undefined {
  const call = findCall(state, callId)
  const hasEnded = state.endedTasks.some((ended) => ended.callId === callId)
  if (hasEnded || call?.state === 'settled' || (!call && state.recentCalls.some((closed) => closed.callId === callId)))
    return { code: 'call_over', message: `${callId}: the call has settled` }
  if (!call) return { code: 'call_over', message: `${callId}: the session has no such call, or had it long ago` }
  const isOwn = call.offer?.number === offer && call.offer.connection === connection
  // A claim repeated by its holder is answered as before.
  if (isOwn && (callOutcome(call, 'claim') === 'claim' || call.state === 'claimed')) return undefined
  return { code: 'call_not_offered', message: `${callId}: the call is ${call.state} and not offered to this client` }
}

/** Words and sentences are counted in the text, which the state does not hold. */
function checkHeard({ counters }: State, heard: Heard): Refusal | undefined {
  if (heard.type === 'words' || heard.type === 'sentence')
    return { code: 'invalid_event', message: `heard of type "${heard.type}" must be counted in characters` }
  if (heard.type !== 'chars') return undefined
  if (!(heard.chars >= 0 && Number.isFinite(heard.chars)))
    return { code: 'invalid_event', message: `heard.chars must be 0 or more, not ${heard.chars}` }
  const { message } = heard
  if (message === undefined || (readTurnOf(message) ?? Infinity) <= counters.turn) return undefined
  return {
    code: 'invalid_event',
    message: `heard.message is not an answer of this session: "${message.slice(0, 100)}"`,
  }
}
