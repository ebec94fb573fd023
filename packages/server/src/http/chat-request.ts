// Reads requests of ai 7's chat transports: the page's messages, of which only the user's newest ones are new.
// Everything else is taken from the session.
import type { ContentPart, JsonObject, JsonValue, ModelSettings } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { AllowedSettings } from '../shared/allowed-settings.ts'
import { CHOICE_HINT, findChoiceIssue } from '../shared/allowed-settings.ts'
import type { KnownAnswer, KnownApproval } from './ui-answer.ts'
import { createInvalid, readUserParts } from './ui-messages.ts'

export interface ChatRequest {
  /** Id of the session. */
  readonly chat: string
  readonly wish: Wish
  readonly model?: string
  readonly settings: ModelSettings
}

export type Wish =
  | {
      readonly type: 'send'
      readonly id: string
      readonly parts: readonly ContentPart[]
      /** User messages just before it, oldest first: the session may not know them, because their requests failed. */
      readonly earlier: readonly Said[]
      /** Results the page had not submitted when the user sent the message. */
      readonly given: readonly Given[]
    }
  /** Replaces the text of an earlier message. */
  | { readonly type: 'edit'; readonly message: string; readonly parts: readonly ContentPart[] }
  /** Asks for another answer, to the newest message if `message` is absent. */
  | { readonly type: 'regenerate'; readonly message?: string }
  /** Results and decisions that the page has added to its copy of the answer. */
  | { readonly type: 'continue'; readonly known: KnownAnswer; readonly given: readonly Given[] }

export interface Said {
  readonly id: string
  readonly parts: readonly ContentPart[]
}

/** `isElsewhere`: the page was informed that another client runs the call. */
export type Given =
  | { readonly type: 'result'; readonly callId: string; readonly output: JsonValue; readonly isElsewhere: boolean }
  | { readonly type: 'failed'; readonly callId: string; readonly message: string; readonly isElsewhere: boolean }
  | {
      readonly type: 'decision'
      readonly callId: string
      readonly approvalId: string
      readonly isApproved: boolean
      readonly reason?: string
    }

/** @throws BatonError `invalid_event` with the field that is wrong */
export function readChatRequest(body: JsonValue, allowed: AllowedSettings): ChatRequest {
  if (!isJsonObject(body)) throw createInvalid('the body must be a JSON object')
  const { id: chat, messages, trigger = 'submit-message', messageId } = body
  if (typeof chat !== 'string' || chat === '') throw createInvalid('id must be the chat’s id')
  if (!Array.isArray(messages)) throw createInvalid('messages must be an array')
  const said: readonly JsonValue[] = messages
  if (messageId !== undefined && messageId !== null && typeof messageId !== 'string')
    throw createInvalid('messageId must be a string')
  const wish = readWish(trigger, typeof messageId === 'string' ? messageId : undefined, said.at(-1))
  if (wish.type !== 'send') return { chat, wish, ...readAsked(body, allowed) }
  const before = said.slice(0, -1)
  const previous = before.findLastIndex((message) => !isUserMessage(message))
  const earlier = before.slice(Math.max(previous + 1, before.length - EARLIER_MAX)).flatMap(readEarlier)
  return { chat, wish: { ...wish, earlier, given: readResults(before[previous]) }, ...readAsked(body, allowed) }
}

/** Maximum number of user messages before the newest one to consider. */
const EARLIER_MAX = 50

function isUserMessage(message: JsonValue): boolean {
  return isJsonObject(message) && message['role'] === 'user'
}

/**
 * Ignores an empty message: it was refused when sent but stays on the page, and must not cause later ones to be
 * refused.
 */
function readEarlier(message: JsonValue): readonly Said[] {
  if (!isJsonObject(message)) return []
  const { id, parts } = message
  if (typeof id !== 'string' || id === '' || !Array.isArray(parts)) return []
  try {
    return [{ id, parts: readUserParts(parts as readonly JsonValue[]) }]
  } catch {
    return []
  }
}

function readWish(trigger: JsonValue, messageId: string | undefined, last: JsonValue | undefined): Wish {
  if (trigger === 'regenerate-message')
    return { type: 'regenerate', ...(messageId !== undefined && { message: messageId }) }
  if (trigger !== 'submit-message')
    throw createInvalid(`trigger must be "submit-message" or "regenerate-message", not ${showValue(trigger)}`)
  if (!isJsonObject(last)) throw createInvalid('messages is empty: there is nothing to answer')
  const { id, role, parts } = last
  if (typeof id !== 'string' || id === '') throw createInvalid('the last message has no id')
  if (!Array.isArray(parts)) throw createInvalid('the last message has no parts')
  if (role === 'assistant') return readContinuation(id, parts as readonly JsonValue[])
  if (role !== 'user') throw createInvalid('the last message must have the role "user" or "assistant"')
  const said = readUserParts(parts as readonly JsonValue[])
  return messageId === undefined
    ? { type: 'send', id, parts: said, earlier: [], given: [] }
    : { type: 'edit', message: messageId, parts: said }
}

/**
 * Reads results from a page without `sendAutomaticallyWhen`, which submits them with the next message. Decisions need
 * their own request.
 */
function readResults(message: JsonValue | undefined): readonly Given[] {
  if (!isJsonObject(message) || message['role'] !== 'assistant') return []
  const { id, parts } = message
  if (typeof id !== 'string' || !Array.isArray(parts)) return []
  const undecided = (parts as readonly JsonValue[]).filter((part) => !isJsonObject(part) || part['state'] !== DECIDED)
  const wish = readContinuation(id, undecided)
  return wish.type === 'continue' ? wish.given : []
}

/** State of a call's part to which the page has added its user's decision. */
const DECIDED = 'approval-responded'

function readContinuation(id: string, parts: readonly JsonValue[]): Wish {
  const calls = new Map<string, string>()
  const elsewhere = new Set<string>()
  const approvals = new Map<string, KnownApproval>()
  const given: Given[] = []
  let steps = 0
  for (const part of parts) {
    if (!isJsonObject(part)) continue
    if (part['type'] === 'step-start') steps += 1
    const { toolCallId: callId, state } = part
    if (typeof callId !== 'string' || typeof state !== 'string') continue
    // A preliminary output is not the call's result.
    calls.set(callId, part['preliminary'] === true ? 'input-available' : state)
    if (part['providerExecuted'] === true) elsewhere.add(callId)
    const one = readGiven(part, callId, state)
    if (one) given.push(one)
    const { approval } = part
    if (isJsonObject(approval) && typeof approval['id'] === 'string')
      approvals.set(callId, { id: approval['id'], ...(one?.type === 'decision' && { isApproved: one.isApproved }) })
  }
  return { type: 'continue', known: { id, steps, calls, elsewhere, approvals }, given }
}

function readGiven(part: JsonObject, callId: string, state: string): Given | undefined {
  const { output = null, errorText, approval } = part
  const isElsewhere = part['providerExecuted'] === true
  if (state === 'output-available' && part['preliminary'] !== true)
    return { type: 'result', callId, output, isElsewhere }
  if (state === 'output-error')
    return {
      type: 'failed',
      callId,
      message: typeof errorText === 'string' ? errorText : 'the tool failed',
      isElsewhere,
    }
  if (state !== DECIDED) return undefined
  const { id, approved, reason } = isJsonObject(approval) ? approval : {}
  if (typeof id !== 'string' || typeof approved !== 'boolean') {
    const wrong = typeof id === 'string' ? 'approval.approved must be true or false' : 'approval.id must be a string'
    throw createInvalid(`the part of call "${callId.slice(0, 100)}" has the state ${DECIDED}, but ${wrong}`)
  }
  return {
    type: 'decision',
    callId,
    approvalId: id,
    isApproved: approved,
    ...(typeof reason === 'string' && reason !== '' && { reason }),
  }
}

/** @throws BatonError `invalid_event` for a value that is not allowed, rather than changing it silently */
function readAsked(body: JsonObject, allowed: AllowedSettings): Pick<ChatRequest, 'model' | 'settings'> {
  const { model, temperature, maxOutputTokens } = body
  const asked = {
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  }
  const issue = findChoiceIssue({ model, settings: asked }, allowed)
  if (issue !== undefined) throw createInvalid(issue, CHOICE_HINT)
  if (temperature !== undefined && typeof temperature !== 'number') throw createInvalid('temperature must be a number')
  return {
    ...(typeof model === 'string' && { model }),
    settings: {
      ...(typeof temperature === 'number' && { temperature }),
      ...(typeof maxOutputTokens === 'number' && { maxOutputTokens }),
    },
  }
}

/** Shows no nested value, because the JSON may have any depth. */
function showValue(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value).slice(0, 100)
}
