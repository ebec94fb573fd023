// Clicks and submitted views: who clicked is the decider, and the host decides whether they may. Slack is answered first, and
// hears of everything else by its Web API.
import type { Host, JsonObject, Principal, SessionDirectory, Timers } from '@baton/core/internal'
import { isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'
import { beforeAck } from './acknowledge.ts'
import type { PassOn } from './pass-on.ts'
import { readText } from './read-text.ts'
import type { SlackAction } from './request-message.ts'
import { ACTIONS, closeRequest, EDIT_BLOCKS, escape, writeEditView } from './request-message.ts'
import type { ButtonSeal, Sealed } from './sealed-button.ts'
import { digestInput } from './sealed-button.ts'
import type { SlackApi } from './slack-api.ts'
import type { PrincipalOf, SlackUser } from './slack-people.ts'

export interface DecidingHost extends Pick<Host, 'session'>, Pick<SessionDirectory, 'approvals' | 'decide' | 'has'> {}

export interface InteractivityOptions {
  readonly host: DecidingHost
  readonly api: SlackApi
  readonly seal: ButtonSeal
  readonly principalOf: PrincipalOf
  readonly mention: (principal: string) => JsonObject
  readonly passOn: PassOn
  readonly timers: Timers
  /** Runs work that follows the answer to Slack. */
  readonly later: (what: string, work: Promise<unknown>) => void
}

/** Place of a message, and who sees the answer. */
interface Place {
  readonly channel: string
  readonly ts: string
  readonly thread?: string
  readonly user: SlackUser
}

export async function answerInteraction(options: InteractivityOptions, payload: JsonObject): Promise<Response> {
  const user = readUser(payload)
  if (!user) return new Response('', { status: 400 })
  if (payload['type'] === 'view_submission') return await answerView(options, payload, user)
  if (payload['type'] === 'block_actions') {
    const click = readClick(payload, user)
    if (click) options.later('a click', answerClick(options, click))
  }
  return new Response('')
}

interface Click {
  readonly action: SlackAction
  readonly value: string
  readonly trigger: string
  readonly place: Place
  /** The message as the person saw it. */
  readonly blocks: readonly JsonObject[]
  readonly text: string
}

async function answerClick(options: InteractivityOptions, click: Click): Promise<void> {
  try {
    await handleClick(options, click)
  } catch (cause) {
    const words = 'This click could not be handled now. Try again, or decide it where the agent runs.'
    await whisper(options.api, click.place, words).catch(() => {}) // the cause is reported
    throw cause
  }
}

async function handleClick(options: InteractivityOptions, click: Click): Promise<void> {
  const { host, api, seal, principalOf } = options
  const { place, action } = click
  const sealed = await seal.open(click.value)
  if (!sealed) return await whisper(api, place, 'This button is not valid. Decide it where the agent runs.')
  const by = await principalOf(place.user)
  if (!by) return await whisper(api, place, 'You are not known here, so nothing was decided.')
  const asked = await findRequest(host, sealed)
  if (!asked) return await tellOver(options, click, sealed)
  if ((await digestInput(asked.input)) !== sealed.digest)
    return await whisper(api, place, 'The arguments are no longer those that the message shows. Nothing was decided.')
  const { session, approvalId } = sealed
  if (action === 'edit') {
    const theirs = await host.approvals({ session, decider: by })
    if (!theirs.approvals.some((one) => one.approvalId === approvalId))
      return await whisper(api, place, 'Nothing was decided: others decide this request.')
    // A submitted view does not name the message, so the value does.
    const kept = JSON.stringify([click.value, place.channel, place.ts, place.thread ?? ''])
    await api.call('views.open', { trigger_id: click.trigger, view: writeEditView(asked, kept) })
    return
  }
  try {
    await host.decide(session, { approvalId, decision: action }, { by })
  } catch (cause) {
    if (await options.passOn(cause)) return
    if (!(await findRequest(host, sealed))) return await tellOver(options, click, sealed)
    await whisper(api, place, escape(await explain(host, { sealed, by, cause })))
  }
}

async function findRequest({ approvals }: DecidingHost, { session, approvalId }: Sealed) {
  return (await approvals({ session })).approvals.find((one) => one.approvalId === approvalId)
}

const DECIDED: Readonly<Record<string, string>> = {
  approve: 'It was approved by',
  edit: 'It was approved with other arguments by',
  deny: 'It was denied by',
}

/** Rewrites the message of a closed request, and informs the person who clicked. */
async function tellOver({ host, api, mention }: InteractivityOptions, click: Click, sealed: Sealed): Promise<void> {
  const { place, blocks, text } = click
  const decided = await findDecision(host, sealed)
  // Another server has the session: its notice rewrites the message.
  if (decided === 'unknown') return await whisper(api, place, 'It is no longer open.')
  const words = decided ? (DECIDED[decided.decision] ?? 'It was decided by') : WITHDRAWN
  const who = decided && mention(decided.by)
  await api.call('chat.update', {
    channel: place.channel,
    ts: place.ts,
    text: text === '' ? 'decided' : text,
    blocks: [...closeRequest(blocks, words, who)],
  })
  const name = who ? (who['type'] === 'mrkdwn' ? readText(who, 'text') : escape(readText(who, 'text'))) : ''
  await whisper(api, place, `${words} ${name}`.trim())
}

const WITHDRAWN = 'It is no longer open: it expired or was withdrawn.'

/** Reads the decision about a request from the session's log. Undefined if there is none; unknown if the log cannot be read here. */
async function findDecision({ session: open }: DecidingHost, { session: id, owner, approvalId }: Sealed) {
  try {
    const session = await open(id, { principal: { id: owner }, existing: true })
    try {
      for await (const event of session.events({ from: 'start' })) {
        if (event.type === 'approval-decided' && event.approvalId === approvalId)
          return { decision: event.decision, by: event.principal.id }
        if (event.type === 'live') return undefined
      }
      return undefined
    } finally {
      await session.close()
    }
  } catch {
    return 'unknown'
  }
}

/** An edit: the view stays open with what is wrong, or closes. */
async function answerView(options: InteractivityOptions, { view }: JsonObject, user: SlackUser): Promise<Response> {
  const edit = isJsonObject(view) && view['callback_id'] === ACTIONS.edit ? readEdit(view) : undefined
  if (!edit) return new Response('')
  const sealed = await options.seal.open(edit.value)
  if (!sealed) return showIssue('This view is not valid any more. Open it again.')
  const input = parseJson(edit.arguments)
  if (!input.ok || !isJsonObject(input.value)) return showIssue('This is not a JSON object.')
  const deciding = decideEdit(options, sealed, { user, input: input.value, note: edit.note })
  const first = await beforeAck(options.timers, deciding, 'late' as const)
  if (first instanceof Response) return first
  if (first !== 'late') return first === undefined ? new Response('') : showIssue(first.issue)
  const telling = deciding.then(async (told) => {
    if (told && 'issue' in told) await whisper(options.api, { ...edit.place, user }, escape(told.issue))
  })
  options.later('an edit', telling)
  return new Response('')
}

/** Returns why it was not decided, or what the server answered that has the session. Never rejects. */
async function decideEdit(
  { host, passOn, principalOf }: InteractivityOptions,
  sealed: Sealed,
  { user, input, note }: { readonly user: SlackUser; readonly input: JsonObject; readonly note: string },
): Promise<{ readonly issue: string } | Response | undefined> {
  const { session, approvalId } = sealed
  try {
    const by = await principalOf(user)
    if (!by) return { issue: 'You are not known here, so nothing was decided.' }
    try {
      await host.decide(session, { approvalId, decision: 'edit', input, ...(note !== '' && { note }) }, { by })
      return undefined
    } catch (cause) {
      return (await passOn(cause)) ?? { issue: await explain(host, { sealed, by, cause }) }
    }
  } catch (cause) {
    return { issue: `Nothing was decided: ${describeThrown(cause)}` }
  }
}

function showIssue(issue: string): Response {
  return Response.json({ response_action: 'errors', errors: { [EDIT_BLOCKS.arguments]: issue.slice(0, 500) } })
}

interface Refused {
  readonly sealed: Sealed
  readonly by: Principal
  readonly cause: unknown
}

/** Why nothing was decided, without the names of sessions and requests, which a stranger does not learn here. */
async function explain(host: DecidingHost, { sealed, by, cause }: Refused): Promise<string> {
  const code = isBatonError(cause) ? cause.code : undefined
  if (code === 'session_held') return 'Another server has this session just now. Try again in a few seconds.'
  const { session, approvalId } = sealed
  if (code !== 'approval_refused') return `Nothing was decided: ${describeThrown(cause).replace(`${approvalId}: `, '')}`
  const asked = await findRequest(host, sealed)
  if (!asked) return 'Nothing was decided: the request is no longer open.'
  if (asked.given?.some((one) => one.id === by.id)) return 'You have approved it already. Others have to as well.'
  const theirs = await host.approvals({ session, decider: by })
  const isTheirs = theirs.approvals.some((one) => one.approvalId === approvalId)
  return `Nothing was decided: ${isTheirs ? 'the request has changed' : 'others decide this request'}.`
}

async function whisper(api: SlackApi, { channel, thread, user }: Omit<Place, 'ts'>, text: string): Promise<void> {
  const place = { channel, user: user.user, ...(thread !== undefined && { thread_ts: thread }) }
  await api.call('chat.postEphemeral', { ...place, text })
}

function readUser({ user, team, enterprise }: JsonObject): SlackUser | undefined {
  if (!isJsonObject(user)) return undefined
  const [id, own] = [user['id'], user['team_id'] ?? (isJsonObject(team) ? team['id'] : undefined)]
  if (typeof id !== 'string' || typeof own !== 'string') return undefined
  const above = isJsonObject(enterprise) && typeof enterprise['id'] === 'string' ? { enterprise: enterprise['id'] } : {}
  return { user: id, team: own, ...above }
}

/** Undefined for a click on something that is not ours. */
function readClick(
  { actions, container, message, trigger_id: trigger }: JsonObject,
  user: SlackUser,
): Click | undefined {
  const [first] = Array.isArray(actions) ? (actions as readonly unknown[]) : []
  if (!isJsonObject(first) || !isJsonObject(container) || !isJsonObject(message)) return undefined
  const [action] = (Object.keys(ACTIONS) as SlackAction[]).filter((name) => ACTIONS[name] === first['action_id'])
  const { channel_id: channel, message_ts: ts } = container
  if (!action || typeof first['value'] !== 'string' || typeof channel !== 'string' || typeof ts !== 'string')
    return undefined
  const thread = message['thread_ts']
  const blocks = Array.isArray(message['blocks'])
    ? message['blocks'].filter((one): one is JsonObject => isJsonObject(one))
    : []
  return {
    action,
    value: first['value'],
    trigger: typeof trigger === 'string' ? trigger : '',
    place: { channel, ts, user, ...(typeof thread === 'string' && { thread }) },
    blocks,
    text: typeof message['text'] === 'string' ? message['text'] : '',
  }
}

interface Edit {
  readonly value: string
  readonly place: Omit<Place, 'user'>
  readonly arguments: string
  readonly note: string
}

function readEdit({ private_metadata: kept, state }: JsonObject): Edit | undefined {
  const parsed = parseJson(typeof kept === 'string' ? kept : '')
  const [value, channel, ts, thread] =
    parsed.ok && Array.isArray(parsed.value) ? (parsed.value as readonly unknown[]) : []
  if (typeof value !== 'string' || typeof channel !== 'string' || typeof ts !== 'string') return undefined
  const values = isJsonObject(state) ? state['values'] : undefined
  const read = (name: string): string => {
    const block = isJsonObject(values) ? values[name] : undefined
    const field = isJsonObject(block) ? block[name] : undefined
    return isJsonObject(field) && typeof field['value'] === 'string' ? field['value'] : ''
  }
  const place = { channel, ts, ...(typeof thread === 'string' && thread !== '' && { thread }) }
  return { value, place, arguments: read(EDIT_BLOCKS.arguments), note: read(EDIT_BLOCKS.note) }
}
