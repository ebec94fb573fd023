// Messages of people to the app: a thread is a session of the person who began it. A message is accepted before Slack is
// answered, under an id made from its place, so a repeated delivery is the same input, after a restart too.
import type { Agent, Host, JsonObject, Principal, SessionDirectory, Timers } from '@baton/core/internal'
import { frontOf, isBatonError, isJsonObject } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'
import { beforeAck } from './acknowledge.ts'
import type { PassOn } from './pass-on.ts'
import { readText } from './read-text.ts'
import { escape } from './request-message.ts'
import type { SlackApi } from './slack-api.ts'
import type { PrincipalOf, SlackUser, ThreadNames } from './slack-people.ts'

export interface EventsOptions {
  readonly host: Pick<Host, 'session'> & Pick<SessionDirectory, 'has'>
  readonly api: SlackApi
  readonly threads: ThreadNames
  readonly principalOf: PrincipalOf
  readonly agent: string | Agent | undefined
  readonly passOn: PassOn
  readonly timers: Timers
  readonly later: (what: string, work: Promise<unknown>) => void
}

/** Refusals that a repeated delivery may change. */
const PASSING: ReadonlySet<string> = new Set([
  'session_held',
  'store_failed',
  'store_conflict',
  'host_stopped',
  'session_closed',
  'queue_full',
])

interface Message {
  readonly user: SlackUser
  /** The workspace of the channel. */
  readonly team: string
  readonly channel: string
  readonly ts: string
  readonly thread: string
  readonly text: string
  readonly hasFiles: boolean
  /** It may begin a conversation. */
  readonly isToApp: boolean
}

export async function answerEvent(options: EventsOptions, body: JsonObject): Promise<Response> {
  if (body['type'] === 'url_verification')
    return new Response(readText(body, 'challenge'), { headers: { 'content-type': 'text/plain' } })
  const message = body['type'] === 'event_callback' ? readMessage(body) : undefined
  if (!message) return new Response('')
  const accepting = acceptMessage(options, message)
  options.later('a message', accepting)
  const accepted = accepting.catch(() => 'again' as const)
  const outcome = await beforeAck(options.timers, accepted, 'again' as const) // then Slack delivers it again
  return new Response('', { status: outcome === 'again' ? 503 : 200 })
}

/** Resolves to `again` if a repeated delivery may be accepted. */
async function acceptMessage(options: EventsOptions, message: Message): Promise<'again' | 'done'> {
  const { host, principalOf, agent } = options
  const { user, channel, ts, text, isToApp, hasFiles } = message
  const known = await findSession(options, message)
  if (!known.isThere && !isToApp) return 'done' // people who talk to each other
  const principal = await principalOf(user)
  if (!principal) return refuse(options, message, 'You are not known here, so the message was not taken.')
  if (text === '') {
    if (!isToApp && !hasFiles) return 'done'
    const why = hasFiles ? 'Files are not read here.' : 'It has no text.'
    return refuse(options, message, `The message was not taken. ${why}`)
  }
  try {
    const outcome = await submit({ host, agent, id: known.id, principal }, `slack:${channel}:${ts}`, text)
    if (hasFiles && outcome === 'done') refuse(options, message, 'Files are not read here: only the text was taken.')
    return outcome
  } catch (cause) {
    if (await options.passOn(cause)) return 'done'
    if (isBatonError(cause) && PASSING.has(cause.code)) return 'again'
    const isForeign = isBatonError(cause) && cause.code === 'unauthorized'
    if (isForeign && !isToApp) return 'done'
    return refuse(
      options,
      message,
      isForeign
        ? 'This conversation belongs to the person who began it. Mention me outside of this thread to begin your own.'
        : `The message was not taken: ${describeThrown(cause)}`,
    )
  }
}

interface Submission extends Pick<EventsOptions, 'host' | 'agent'> {
  readonly id: string
  readonly principal: Principal
}

/** @throws BatonError if it is refused */
async function submit(
  { host, agent, id, principal }: Submission,
  inputId: string,
  text: string,
): Promise<'again' | 'done'> {
  const session = frontOf(await host.session(id, { principal, ...(agent !== undefined && { agent }) }))
  try {
    const answer = await session.submit({ type: 'user-input', inputId, parts: [{ type: 'text', text }] })
    if (answer.type === 'accepted') return 'done'
    if (PASSING.has(answer.code)) return 'again'
    throw new Error(answer.message)
  } finally {
    await session.close()
  }
}

/** A thread that began under an older secret keeps its session. */
async function findSession({ host, threads }: EventsOptions, { team, channel, thread }: Message) {
  const names = await threads.of({ team, channel, ts: thread })
  for (const id of names) if (await host.has(id)) return { id, isThere: true }
  return { id: names[0] ?? '', isThere: false }
}

/** Slack is answered meanwhile: a repeated delivery would only say it again. */
function refuse({ api, later }: EventsOptions, { channel, user, thread, ts }: Message, text: string): 'done' {
  const place = { channel, user: user.user, ...(thread !== ts && { thread_ts: thread }) }
  later('a message', api.call('chat.postEphemeral', { ...place, text: escape(text) }))
  return 'done'
}

/** Subtypes of messages that people write. */
const WRITTEN: ReadonlySet<unknown> = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message'])

/** Undefined for what is not a person's message to read: of apps, edited, joined, and so on. */
function readMessage(body: JsonObject): Message | undefined {
  const { event, team_id: team, authorizations } = body
  if (!isJsonObject(event)) return undefined
  const { type, subtype, bot_id: bot, user, channel, ts, thread_ts: thread, text, channel_type: kind } = event
  if ((type !== 'app_mention' && type !== 'message') || !WRITTEN.has(subtype) || bot !== undefined) return undefined
  if (typeof user !== 'string' || typeof channel !== 'string' || typeof ts !== 'string' || typeof text !== 'string')
    return undefined
  const [first] = Array.isArray(authorizations) ? (authorizations as readonly unknown[]) : []
  const own = isJsonObject(first) ? first['user_id'] : undefined
  const home = event['user_team'] ?? event['team'] ?? team
  if (user === own || typeof home !== 'string' || typeof team !== 'string') return undefined
  const words = unescape(text.replace(/^\s*<@[A-Z0-9]+>\s*/, '')).trim()
  return {
    user: { user, team: home },
    team,
    channel,
    ts,
    thread: typeof thread === 'string' ? thread : ts,
    text: words,
    hasFiles: Array.isArray(event['files']) && event['files'].length > 0,
    isToApp: type === 'app_mention' || kind === 'im',
  }
}

function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
