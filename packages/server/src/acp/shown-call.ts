// A call as an editor shows it: its title, locations, changes and result. Relative paths are resolved from the
// session's folder.
import type { CallView, ContentPart, MediaSource } from '@baton/core/internal'
import { wholeEnd } from '@baton/core/internal'
import type { AskedCall } from './permissions.ts'
import { isAbsolute, resolve } from 'node:path'
import { showEndBelow, showTitle } from '../shared/calls-below.ts'
import { nameDeciders } from '../shared/owner-decides.ts'
import type { Block, CallStage, ShownCall, ShownContent } from './updates.ts'

export interface CallPlace {
  readonly cwd: string
  readonly resultChars: number
  /** Returns the bytes of an image or a file as base64. */
  readonly media: (handle: string) => Promise<string | undefined>
  /** The terminal in which the call runs. */
  readonly terminalOf: (callId: string) => string | undefined
}

export async function showCall(call: CallView, place: CallPlace): Promise<ShownCall> {
  const { callId: toolCallId, name, kind = 'other', input: rawInput } = call
  const title = showTitle(call) ?? name
  const rawOutput = readOutput(call, place.resultChars)
  return {
    toolCallId,
    title: cutText(title, TITLE_CHARS),
    name,
    kind,
    status: readStage(call),
    content: [...showDiffs(call, place), ...showTerminal(toolCallId, place), ...(await showResult(call, place))],
    locations: showLocations(call, place),
    rawInput,
    ...(rawOutput !== undefined && { rawOutput }),
  }
}

/** Shows a call that is waiting for a person. */
export function showAsked(call: AskedCall, place: CallPlace): ShownCall {
  const { callId: toolCallId, name, kind = 'other', input: rawInput, asked } = call
  const title = showTitle(call) ?? name
  const why = asked ? [{ type: 'content', content: textBlock(asked.message) } as const] : []
  return {
    toolCallId,
    title: cutText(title, TITLE_CHARS),
    name,
    kind,
    status: 'pending',
    content: [...why, ...showDiffs(call, place)],
    locations: showLocations(call, place),
    rawInput,
  }
}

/** Maximum characters of a title. */
const TITLE_CHARS = 400

export function findPath(cwd: string, path: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path)
}

function readStage(call: CallView): CallStage {
  const { status, result } = call
  if (status === 'running') return 'in_progress'
  if (status !== 'settled') return 'pending'
  if (result?.type === 'ok' || showEndBelow(call) !== undefined) return 'completed'
  return result?.type === 'cancelled' ? 'cancelled' : 'failed'
}

function showLocations({ locations }: Pick<CallView, 'locations'>, { cwd }: CallPlace): ShownCall['locations'] {
  return (locations ?? []).map(({ path, line }) => ({
    path: findPath(cwd, path),
    ...(line !== undefined && { line }),
  }))
}

function showDiffs({ diff }: Pick<CallView, 'diff'>, { cwd }: CallPlace): readonly ShownContent[] {
  return (diff ?? []).map(({ path, oldText, newText }) => ({
    type: 'diff',
    path: findPath(cwd, path),
    oldText,
    newText,
  }))
}

function showTerminal(callId: string, { terminalOf }: CallPlace): readonly ShownContent[] {
  const terminalId = terminalOf(callId)
  return terminalId === undefined ? [] : [{ type: 'terminal', terminalId }]
}

async function showResult(call: CallView, place: CallPlace): Promise<readonly ShownContent[]> {
  const { result, waitsForClient, child, status, deciders } = call
  const end = showEndBelow(call)
  if (end !== undefined) return [{ type: 'content', content: textBlock(end) }]
  if (status === 'awaiting-approval' && deciders)
    return [{ type: 'content', content: textBlock(`Waiting for a decision of ${nameDeciders(deciders)}.`) }]
  if (!result && child)
    return [{ type: 'content', content: textBlock(`The agent "${child.agent}" is ${CHILD_WORDS[child.status]}.`) }]
  if (!result && waitsForClient) return [{ type: 'content', content: textBlock('Waiting for an app that can run it.') }]
  if (!result) return []
  if (result.type !== 'ok')
    return result.message === '' ? [] : [{ type: 'content', content: textBlock(result.message) }]
  const blocks = await Promise.all(result.content.map((part) => toBlock(part, place)))
  return blocks.map((content) => ({ type: 'content', content }))
}

const CHILD_WORDS = {
  opening: 'about to begin',
  running: 'at work',
  waiting: 'waiting for an answer',
  ending: 'being ended',
  ended: 'done',
  lost: 'lost',
} as const satisfies Record<NonNullable<CallView['child']>['status'], string>

/** The result as JSON, for editors that show it raw. */
function readOutput(call: CallView, resultChars: number): unknown {
  const { result } = call
  if (!result || showEndBelow(call) !== undefined) return undefined
  if (result.type === 'ok') {
    if (result.value === undefined) return undefined
    return JSON.stringify(result.value).length <= resultChars ? result.value : { truncated: true }
  }
  const { type, message } = result
  return { error: 'code' in result ? result.code : type, message }
}

export function textBlock(text: string): Block {
  return { type: 'text', text }
}

export async function toBlock(
  part: ContentPart<MediaSource>,
  { media, resultChars }: Pick<CallPlace, 'media' | 'resultChars'>,
): Promise<Block> {
  if (part.type === 'text') return textBlock(cutText(part.text, resultChars))
  const { mediaType, source } = part
  const name = part.type === 'file' ? (part.name ?? 'file') : 'image'
  if (source.type === 'url') return { type: 'resource_link', name, uri: source.url, mimeType: mediaType }
  const data = source.type === 'base64' ? source.data : await media(source.handle)
  if (data === undefined) return textBlock(`[${name} (${mediaType}) is no longer available]`)
  if (part.type === 'image') return { type: 'image', data, mimeType: mediaType }
  if (mediaType.startsWith('audio/')) return { type: 'audio', data, mimeType: mediaType }
  const uri = `attachment:///${encodeURIComponent(name)}`
  return { type: 'resource', resource: { uri, blob: data, mimeType: mediaType } }
}

/** Says how much was cut. Never splits a surrogate pair. */
export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text
  const end = wholeEnd(text, chars)
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}
