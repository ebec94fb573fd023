// Converts a session's messages to UIMessages of the AI SDK, and a person's UIMessage to message parts.
import type {
  CallView,
  ChatMessage,
  ContentPart,
  JsonObject,
  JsonValue,
  PendingApproval,
  Principal,
  StepView,
  StoredPart,
} from '@baton/core/internal'
import { BatonError, isJsonObject, readDataAddress } from '@baton/core/internal'
import { encodeAppError } from '../shared/app-errors.ts'
import { showEndBelow, showTitle } from '../shared/calls-below.ts'
import { ownerDecides } from '../shared/owner-decides.ts'
import type { ChatMetadata } from './chat-types.ts'
import type { UiInputPart } from './ui-chunks.ts'

/** A message for the `messages` of `useChat`. */
export interface UiMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly parts: readonly JsonObject[]
  readonly metadata: ChatMetadata
}

/** Returns the address of an image or a file of the session. */
export type LinkMedia = (handle: string, mediaType: string) => string

/** `path`: the calls that lead to the session of a delegated call. */
export function createMediaLinks(basePath: string, session: string, path: readonly string[] = []): LinkMedia {
  const child = path.map((callId) => `&child=${encodeURIComponent(callId)}`).join('')
  return (handle, mediaType) =>
    `${basePath}/sessions/${encodeURIComponent(session)}/media/${handle}?type=${encodeURIComponent(mediaType)}${child}`
}

/**
 * An edited message gets a new id in the session, since ids there are permanent, but keeps its old one in the page: the
 * suffix after the tilde is the session's.
 */
const EDITED = /~[0-9a-z]{1,64}$/

export function showMessageId(id: string): string {
  return id.replace(EDITED, '')
}

export function nameEdit(id: string, nonce: string): string {
  return `${showMessageId(id)}~${nonce.replace(/[^0-9a-z]/g, '').slice(0, 64)}`
}

/** Writes a message for `useChat`. `approvals`: the open ones of the session; a page can decide those of its `principal`. */
export function writeUiMessage(
  message: ChatMessage,
  linkMedia: LinkMedia,
  waiting: Omit<Showing, 'linkMedia'> = { approvals: [] },
): UiMessage {
  if (message.role === 'user') {
    const { from, atMs, waits, exchange } = message
    const metadata = { from, atMs, waits, ...(exchange !== undefined && { exchange }) }
    const parts = writeUserParts(message.parts, linkMedia).map((part) => ({ ...part }))
    return { id: showMessageId(message.id), role: 'user', parts, metadata }
  }
  const { id, turn, exchange, atMs, stop, usage, error, steps } = message
  return {
    id,
    role: 'assistant',
    parts: steps.flatMap((step) => writeStep(step, { linkMedia, ...waiting })),
    metadata: {
      turn,
      exchange,
      atMs,
      ...(stop && { stop }),
      ...(usage && { usage }),
      ...(error && { error: encodeAppError(error) }),
    },
  }
}

export function writeUserParts(parts: readonly StoredPart[], linkMedia: LinkMedia): readonly UiInputPart[] {
  return parts.map((part) =>
    part.type === 'text'
      ? { type: 'text', text: part.text }
      : {
          type: 'file',
          mediaType: part.mediaType,
          url: linkSource(part, linkMedia),
          ...(part.type === 'file' && part.name !== undefined && { filename: part.name }),
        },
  )
}

/** The output of a tool without a value: its text, or parts if there is more than text. */
export function showContent(content: readonly StoredPart[], linkMedia: LinkMedia): JsonValue {
  if (content.every(({ type }) => type === 'text'))
    return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return writeUserParts(content, linkMedia).map((part) => ({ ...part }))
}

function linkSource({ mediaType, source }: Exclude<StoredPart, { readonly type: 'text' }>, link: LinkMedia): string {
  if (source.type === 'url') return source.url
  return source.type === 'blob' ? link(source.handle, mediaType) : `data:${mediaType};base64,${source.data}`
}

interface Showing {
  readonly linkMedia: LinkMedia
  readonly approvals: readonly PendingApproval[]
  readonly principal?: Principal
}

function writeStep({ text, reasoning, calls, sources }: StepView, showing: Showing): readonly JsonObject[] {
  return [
    { type: 'step-start' },
    ...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning, state: 'done' }]),
    ...(text === '' ? [] : [{ type: 'text', text, state: 'done' }]),
    ...sources.map(({ id: sourceId, url, title, mediaType }) =>
      url === undefined
        ? { type: 'source-document', sourceId, mediaType: mediaType ?? 'text/plain', title: title ?? 'a document' }
        : { type: 'source-url', sourceId, url, ...(title !== undefined && { title }) },
    ),
    ...calls.flatMap((call) => [
      writeCall(call, showing),
      ...writeApprovalsBelow(call, showing),
      ...showing.approvals
        .filter(({ callId, path }) => (path?.[0]?.callId ?? callId) === call.callId)
        .flatMap((asked) => writeRequestsOfOthers(asked, showing.principal)),
    ]),
  ]
}

/**
 * Shows a call without asking the page to run it; to get calls to run, it resumes the stream. An unsettled `once` call
 * already has its page.
 */
function writeCall(call: CallView, { linkMedia, approvals, principal }: Showing): JsonObject {
  const { callId, name, input, result, runs, effect } = call
  const title = showTitle(call)
  const part = {
    type: `tool-${name}`,
    toolCallId: callId,
    input,
    ...(title !== undefined && { title }),
    providerExecuted: runs === 'server' || (!result && effect === 'once'),
  }
  const asked = approvals.find((approval) => approval.callId === callId)
  if (asked) return { ...part, ...writeRequest(asked, principal) }
  if (!result && call.task)
    return { ...part, state: 'output-available', output: { task: callId, status: call.status }, preliminary: true }
  if (!result) return { ...part, state: 'input-available' }
  const end = showEndBelow(call)
  if (end !== undefined) return { ...part, state: 'output-available', output: end }
  if (result.type !== 'ok') return { ...part, state: 'output-error', errorText: result.message }
  return { ...part, state: 'output-available', output: result.value ?? showContent(result.content, linkMedia) }
}

/** Open approvals of the agents below a call, as the answer's stream shows them. */
function writeApprovalsBelow({ callId }: CallView, { approvals, principal }: Showing): readonly JsonObject[] {
  return approvals.flatMap((asked) => {
    if (asked.path?.[0]?.callId !== callId || asked.callId === callId) return []
    const { name, callId: toolCallId, input } = asked
    const title = showTitle(asked) ?? name
    const part = { type: 'dynamic-tool', toolName: name, toolCallId, input, title, providerExecuted: true }
    return [{ ...part, ...writeRequest(asked, principal) }]
  })
}

/** Output of a call until others have decided it: a page sends its user's decisions when all other calls have an output. */
export const AWAITING_OTHERS = { status: 'awaiting-approval' } as const

/** A page offers the decisions of its user; those of others it only shows. */
function writeRequest(asked: PendingApproval, principal: Principal | undefined): JsonObject {
  return principal && !ownerDecides(principal, asked)
    ? { state: 'output-available', output: { ...AWAITING_OTHERS }, preliminary: true }
    : { state: 'approval-requested', approval: { id: asked.approvalId } }
}

function writeRequestsOfOthers(asked: PendingApproval, principal: Principal | undefined): readonly JsonObject[] {
  return principal && !ownerDecides(principal, asked) ? [writeOthersRequest(asked)] : []
}

type Asked = Pick<PendingApproval, 'approvalId' | 'callId' | 'name' | 'title' | 'deciders' | 'expiresAtMs' | 'path'>

/** A request that waits for others than the session's owner. */
export function writeOthersRequest(asked: Asked) {
  const { approvalId, callId, name, expiresAtMs, path } = asked
  const title = showTitle(asked)
  const deciders = { ...asked.deciders } as unknown as JsonObject // plain data
  const data = {
    approvalId,
    callId,
    name,
    deciders,
    expiresAtMs,
    ...(title !== undefined && { title }),
    ...(path && { path: path.map((step) => ({ callId: step.callId, agent: step.agent })) }),
  }
  return { type: 'data-approval', id: approvalId, data } as const
}

/**
 * Reads a person's UIMessage: texts and files. Other kinds of parts belong to answers and are ignored.
 * @throws BatonError `invalid_event`
 */
export function readUserParts(parts: readonly JsonValue[]): readonly ContentPart[] {
  const said = parts.flatMap((part, index): readonly ContentPart[] => {
    if (!isJsonObject(part)) throw createInvalid(`parts[${index}] must be an object`)
    if (part['type'] === 'text') {
      if (typeof part['text'] !== 'string') throw createInvalid(`parts[${index}].text must be a string`)
      return part['text'] === '' ? [] : [{ type: 'text', text: part['text'] }]
    }
    return part['type'] === 'file' ? [readFile(part, `parts[${index}]`)] : []
  })
  if (said.length === 0) throw createInvalid('the message is empty: it has no text and no file')
  return said
}

function readFile({ mediaType, url, filename }: JsonObject, where: string): ContentPart {
  if (typeof url !== 'string') throw createInvalid(`${where}.url must be a string`)
  const inline = readDataAddress(url)
  const type = typeof mediaType === 'string' && mediaType !== '' ? mediaType : (inline?.mediaType ?? '')
  if (type === '') throw createInvalid(`${where}.mediaType is missing`)
  if (!inline && !/^https?:\/\//i.test(url))
    throw createInvalid(`${where}.url must be a data: address, or an http(s) address`)
  const source = inline ? ({ type: 'base64', data: inline.data } as const) : ({ type: 'url', url } as const)
  if (/^image\//i.test(type)) return { type: 'image', mediaType: type, source }
  return { type: 'file', mediaType: type, source, ...(typeof filename === 'string' && { name: filename }) }
}

export function createInvalid(message: string, hint?: string): BatonError {
  return new BatonError({ code: 'invalid_event', message, ...(hint !== undefined && { hint }) })
}
