// Slack as a destination of notices: posts requests for people, rewrites them once they are decided, and posts answers into
// the threads in which conversations live. What it posted is noted with the session, so that a repeated notice posts little.
import type {
  JsonObject,
  Notice,
  NoticeContext,
  NoticeDestination,
  NoticeFailure,
  WaitingApproval,
} from '@baton/core/internal'
import { isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'
import { readText } from './read-text.ts'
import { closeRequest, escape, writeRequest, writeTime } from './request-message.ts'
import type { ButtonSeal } from './sealed-button.ts'
import { digestInput } from './sealed-button.ts'
import type { SlackApi } from './slack-api.ts'
import type { ThreadNames } from './slack-people.ts'

/** A channel of Slack, or a thread in it. */
export interface SlackPlace {
  /** Id of a channel that the app is a member of. */
  readonly channel: string
  /** `ts` of a thread's first message. */
  readonly thread?: string
}

export interface SlackNoticesOptions extends Pick<NoticeDestination, 'name' | 'retriesMs'> {
  readonly api: SlackApi
  readonly seal: ButtonSeal
  readonly threads: ThreadNames
  readonly placeOf: (request: WaitingApproval) => SlackPlace | undefined
  readonly mention: (principal: string) => JsonObject
}

/** Characters of one message, of at most 12,000 that Slack takes as Markdown. */
const PIECE_CHARS = 11_000
/** Marks of Slack that notify a whole channel or group. */
const BROADCAST = /<!(?=channel|here|everyone|subteam)/g
/** Slack's words that say that a message can never be changed. */
const MESSAGE_GONE: ReadonlySet<unknown> = new Set(['message_not_found', 'cant_update_message', 'channel_not_found'])

export function createSlackNotices({ name, retriesMs, ...parts }: SlackNoticesOptions): NoticeDestination {
  return {
    name,
    ...(retriesMs && { retriesMs }),
    types: [
      'approval.requested',
      'approval.decided',
      'approval.withdrawn',
      'question.asked',
      'turn.finished',
      'turn.failed',
    ],
    send: async (notice, context) => {
      try {
        await tell({ ...parts, notice, context })
        return undefined
      } catch (cause) {
        return describe(cause)
      }
    },
  }
}

type Parts = Omit<SlackNoticesOptions, 'name' | 'retriesMs'>

interface Telling extends Parts {
  readonly notice: Notice
  readonly context: NoticeContext
}

async function tell(telling: Telling): Promise<void> {
  switch (telling.notice.type) {
    case 'approval.requested':
      return await postRequest(telling)
    case 'approval.decided':
      return await closeDecided(telling)
    case 'approval.withdrawn':
      return await closeWithdrawn(telling)
    case 'question.asked':
      return await tellQuestion(telling)
    case 'turn.finished':
    case 'turn.failed':
      return await postEnd(telling)
    default:
      return
  }
}

async function postRequest(telling: Telling): Promise<void> {
  const { seal, threads, placeOf, mention, notice, context } = telling
  const asked = await context.request()
  const known = await context.notes.get(nameRequest(notice))
  if (!asked || (known !== undefined && !isBegun(readNote(known)))) return // it is closed, or was posted before
  const { session } = notice.data
  const thread = await threads.read(session)
  const place = thread ? { channel: thread.channel, thread: thread.ts } : placeOf(asked)
  if (!place) return
  const { approvalId, principal } = asked
  const value = await seal.seal({ session, approvalId, owner: principal.id, digest: await digestInput(asked.input) })
  const { text, blocks, shown } = writeRequest(asked, { value, mention })
  const begun = { ...place, text, shown }
  // If the host dies before the post is noted, the next host still knows where to post the outcome.
  await context.notes.put(nameRequest(notice), JSON.stringify(begun))
  await postNoted(telling, begun, blocks)
}

/** Posts a message about a request, and notes it for what follows. */
async function postNoted(
  telling: Telling,
  { channel, thread, text, shown }: Begun,
  blocks: readonly JsonObject[],
): Promise<Posted> {
  const { notice, context } = telling
  const place = { channel, ...(thread !== undefined && { thread }) }
  const posted = { ...(await post(telling, place, { text, blocks: [...blocks] })), text, shown }
  await context.notes.put(nameRequest(notice), JSON.stringify(posted))
  await context.notes.put('thread', JSON.stringify({ channel: posted.channel, ts: thread ?? posted.ts }))
  return posted
}

const DECIDED: Readonly<Record<string, string>> = {
  approve: 'Approved by',
  edit: 'Approved with other arguments by',
  deny: 'Denied by',
}

async function closeDecided(telling: Telling): Promise<void> {
  const { mention, notice } = telling
  const { decision, by } = notice.data as unknown as { readonly decision: string; readonly by: { readonly id: string } }
  await rewrite(telling, DECIDED[decision] ?? 'Decided by', mention(by.id))
}

/** Removes the buttons. Slack announces no edited message, so an expiry is posted too. */
async function closeWithdrawn(telling: Telling): Promise<void> {
  const { notice, context, threads } = telling
  const isExpired = notice.data['reason'] === 'expired'
  const posted = await rewrite(
    telling,
    isExpired ? 'Expired: nobody decided it in time.' : 'Withdrawn: it is not needed.',
  )
  if (!posted || !isExpired) return
  const thread = await threads.read(notice.data.session)
  const place = { channel: posted.channel, thread: thread?.ts ?? posted.ts }
  await post(telling, place, { text: 'The request expired: nobody decided it in time.' })
  await context.notes.put(nameRequest(notice), '{}') // a repeated notice posts nothing
}

/**
 * Rewrites the message of the request and returns it; undefined without one. If a post of the request was begun and never
 * noted, posts the outcome as another message.
 */
async function rewrite(telling: Telling, words: string, who?: JsonObject): Promise<Posted | undefined> {
  const { api, notice, context } = telling
  const known = readNote(await context.notes.get(nameRequest(notice)))
  if (!known) return undefined
  const noted = known as unknown as Begun | Posted // as postRequest noted it
  const blocks = [...closeRequest(noted.shown, words, who)]
  if (!('ts' in noted)) return await postNoted(telling, noted, blocks)
  const { channel, ts, text } = noted
  try {
    await api.call('chat.update', { channel, ts, text, blocks }, context.signal)
  } catch (cause) {
    if (!isBatonError(cause) || !MESSAGE_GONE.has(cause.data['error'])) throw cause
  }
  return noted
}

/** Slack has no form for it: the thread of a conversation hears that there is one. */
async function tellQuestion(telling: Telling): Promise<void> {
  const { notice, context, threads } = telling
  const thread = await threads.read(notice.data.session)
  const noteName = `question.${readText(notice.data, 'questionId')}`
  if (!thread || (await context.notes.get(noteName)) !== undefined) return
  const until = writeTime(Date.parse(readText(notice.data, 'expiresAt')))
  const text = `A tool asks a question, which cannot be answered in Slack. Answer it in the session ${notice.data.session}, until ${until}.`
  await post(telling, { channel: thread.channel, thread: thread.ts }, { text })
  await context.notes.put(noteName, '{}')
}

/** The answer in the thread of a conversation; elsewhere, what became of the request. */
async function postEnd(telling: Telling): Promise<void> {
  const { notice, context, threads } = telling
  const { session, error } = notice.data
  const thread = await threads.read(session)
  const asked = readNote(await context.notes.get('thread'))
  const place = thread
    ? { channel: thread.channel, thread: thread.ts }
    : asked && { channel: readText(asked, 'channel'), thread: readText(asked, 'ts') }
  if (!place) return
  const failed = isJsonObject(error) ? `It failed: ${readText(error, 'message') || readText(error, 'code')}` : undefined
  const outcome = readText(notice.data, 'outcome')
  const silent = outcome === 'interrupted' || outcome === 'stopped' ? `The turn was ${outcome}.` : ''
  const answer = failed ?? ((await context.answer()) || silent)
  if (!thread) {
    await post(telling, place, { text: escape(failed ?? `Done: the turn was ${outcome}.`) })
    return await context.notes.put('thread', '{}')
  }
  const noteName = `said.${readText(notice.data, 'turn')}`
  const pieces = splitText(answer.replace(BROADCAST, '&lt;!'))
  // After a failure in the middle, the rest follows.
  for (let said = Number((await context.notes.get(noteName)) ?? 0); said < pieces.length; said++) {
    await post(telling, place, { markdown_text: pieces[said] ?? '' })
    await context.notes.put(noteName, String(said + 1))
  }
}

/** A request that is about to be posted. */
interface Begun extends SlackPlace {
  readonly text: string
  readonly shown: readonly JsonObject[]
}

interface Posted extends Pick<Begun, 'channel' | 'text' | 'shown'> {
  readonly ts: string
}

function isBegun(note: JsonObject | undefined): boolean {
  return note !== undefined && note['ts'] === undefined
}

async function post(
  { api, context }: Telling,
  { channel, thread }: SlackPlace,
  content: JsonObject,
): Promise<Pick<Posted, 'channel' | 'ts'>> {
  const place = { channel, ...(thread !== undefined && { thread_ts: thread }) }
  const quiet = { unfurl_links: false, unfurl_media: false }
  const answer = await api.call('chat.postMessage', { ...place, ...content, ...quiet }, context.signal)
  return { channel: readText(answer, 'channel'), ts: readText(answer, 'ts') }
}

function nameRequest({ data }: Notice): string {
  return `request.${readText(data, 'approvalId')}`
}

function readNote(text: string | undefined): JsonObject | undefined {
  const parsed = text === undefined ? undefined : parseJson(text)
  return parsed?.ok && isJsonObject(parsed.value) && parsed.value['channel'] !== undefined ? parsed.value : undefined
}

/** Cuts a text where a line or a word ends, if one does. */
export function splitText(text: string, most = PIECE_CHARS): readonly string[] {
  const pieces: string[] = []
  for (let rest = text.trim(); rest !== '';) {
    const head = rest.slice(0, most)
    const ends =
      rest.length <= most ? [most] : [head.lastIndexOf('\n'), head.lastIndexOf(' ')].filter((at) => at > most / 2)
    const at = ends[0] ?? (/[\uD800-\uDBFF]$/.test(head) ? most - 1 : most)
    pieces.push(rest.slice(0, at))
    rest = rest.slice(at).trim()
  }
  return pieces
}

function describe(cause: unknown): NoticeFailure {
  const retryAfterMs = isBatonError(cause) ? cause.data['retryAfterMs'] : undefined
  return { message: describeThrown(cause), ...(typeof retryAfterMs === 'number' && { retryAfterMs }) }
}
