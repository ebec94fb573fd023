// Events with a signature of Standard Webhooks. A genuine one becomes the same request as that of an authenticated client,
// with its id as the key: the server's configuration says who sends it, and to which sessions.
import type { Logger, Principal } from '@baton/core/internal'
import { BatonError, checkFields, checkName, describeValue, isJsonObject, parseJson } from '@baton/core/internal'
import { checkPrincipal, checkWebhook, decodeWebhookSecret, describeThrown, importWebhookKey } from '@baton/runtime'
import type { ServerWorld } from '../shared/server-world.ts'
import { waitForIdentity } from '../shared/peer-identity.ts'
import { answerRefusal } from './http-errors.ts'
import type { BodyLimits } from './requests.ts'
import { createIncoming, decodePath } from './requests.ts'

type Known = Principal | undefined

/** A program that signs its events: `{ secret: 'whsec_…', principal: { id: 'ann' } }`. */
export interface WebhookSender {
  /** `whsec_` and 24 to 64 bytes in base64; several while one replaces another. */
  readonly secret: string | readonly string[]
  /** The owner of the sessions that it may send to, or a function that finds the owner of one; `undefined` refuses the event. */
  readonly principal: Principal | ((session: string) => Known | Promise<Known>)
  /** Kinds of events that it may send. Default: all that the session's agent accepts. */
  readonly kinds?: readonly string[]
}

/** A sender with its secrets read. */
export interface KnownSender extends Pick<WebhookSender, 'principal' | 'kinds'> {
  readonly name: string
  readonly secrets: readonly Uint8Array<ArrayBuffer>[]
}

/** Maximum bytes of a signed event, which is read before its sender is known. */
const EVENT_BYTES = 262_144
const NAME_CHARS_MAX = 40
const SENDER_FIELDS = new Set(['secret', 'principal', 'kinds'])
const SENDER_ELSEWHERE = { events: 'kinds', types: 'kinds', owner: 'principal', secrets: 'secret' } as const

/** @throws BatonError `invalid_option` */
export function readSenders(webhooks: Readonly<Record<string, WebhookSender>>): readonly KnownSender[] {
  if (Array.isArray(webhooks))
    throw new BatonError({
      code: 'invalid_option',
      message: 'webhooks must be an object with a field for each sender, not an array',
      hint: 'Write webhooks: { shop: { secret, principal } }.',
    })
  return Object.entries(webhooks).map(([name, given]) => {
    const where = `webhooks["${name.slice(0, NAME_CHARS_MAX)}"]`
    const refuse = (message: string, hint?: string): BatonError =>
      new BatonError({ code: 'invalid_option', message, ...(hint !== undefined && { hint }) })
    if (!/^[\w-]+$/.test(name) || name.length > NAME_CHARS_MAX)
      throw refuse(`${where}: a sender's name has 1 to ${NAME_CHARS_MAX} letters, digits, "_" and "-"`)
    checkFields(given, { what: where, code: 'invalid_option', fields: SENDER_FIELDS, elsewhere: SENDER_ELSEWHERE })
    const { secret, principal, kinds } = given
    const secrets = [secret].flat().map((one) => decodeWebhookSecret(`${where}.secret`, one))
    if (secrets.length === 0) throw refuse(`${where}.secret is empty, so no event could be genuine`)
    if (typeof principal !== 'function' && typeof (principal as Known)?.id !== 'string')
      throw refuse(
        `${where}.principal must be an object with an id or a function, not ${describeValue(principal)}`,
        OWNER,
      )
    if (typeof principal !== 'function') {
      checkName(`${where}.principal.id`, principal.id)
      checkPrincipal(principal, `${where}.principal`)
    }
    if (kinds !== undefined && (!Array.isArray(kinds) || !kinds.every((kind) => typeof kind === 'string')))
      throw refuse(`${where}.kinds must be an array of names, not ${describeValue(kinds)}`)
    return { name, secrets, principal, ...(kinds && { kinds }) }
  })
}

const OWNER = "Write principal: { id: 'ann' }, the owner of its sessions, or (session) => owners.get(session)."

const ADDRESS = /^sessions\/([^/]+)\/events$/

/** The session of a request with a signature; undefined for any other request. */
export function findSignedSession({ method, headers }: Request, path: string): string | undefined {
  return method === 'POST' && headers.has('webhook-signature') ? ADDRESS.exec(path)?.[1] : undefined
}

export interface SignedParts extends Pick<BodyLimits, 'takeBytes'> {
  readonly senders: readonly KnownSender[]
  readonly world: Pick<ServerWorld, 'clock' | 'timers' | 'log'>
}

export interface AdmittedEvent {
  readonly principal: Principal
  readonly request: Request
}

/**
 * Returns the event as a request of its sender's principal, or the refusal.
 * @throws BatonError as `readBody` and `decodePath`; `keys_unavailable` if the owner of the session cannot be found now
 */
export async function admitSigned(
  parts: SignedParts,
  request: Request,
  session: string,
): Promise<AdmittedEvent | Response> {
  const { senders, world, takeBytes } = parts
  const body = await createIncoming(request, { bytesMax: EVENT_BYTES, takeBytes }).readBody()
  let why = 'this server has no webhooks'
  for (const { secrets, ...sender } of senders) {
    const keys = await Promise.all(secrets.map(importWebhookKey))
    const read = (name: string): string | null => request.headers.get(name)
    const checked = await checkWebhook({ read, body, keys, nowMs: world.clock.nowMs() })
    if (checked.ok) return await admit(parts, { request, session, sender, id: checked.id, body })
    why = checked.why
  }
  return answerRefusal(401, 'unauthorized', `the signature of the event was not accepted: ${why}`)
}

interface Genuine {
  readonly request: Request
  readonly session: string
  readonly sender: Omit<KnownSender, 'secrets'>
  readonly id: string
  readonly body: Uint8Array
}

async function admit({ world }: SignedParts, genuine: Genuine): Promise<AdmittedEvent | Response> {
  const { request, session, sender, id, body } = genuine
  const parsed = parseJson(new TextDecoder().decode(body))
  const event = parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined
  const { type, data } = event ?? {}
  if (typeof type !== 'string') return answerRefusal(400, 'invalid_event', FORM)
  if (sender.kinds && !sender.kinds.includes(type))
    return answerRefusal(403, 'not_permitted', `the sender "${sender.name}" may not send "${type.slice(0, 100)}"`)
  const principal = await findPrincipal(world, sender, session)
  if (!principal) return answerRefusal(403, 'unauthorized', `the sender "${sender.name}" may not send to this session`)
  const headers = { 'content-type': 'application/json', 'idempotency-key': `${sender.name}:${id}` }
  const sent = JSON.stringify({ type, ...(data !== undefined && { data }) })
  return { principal, request: new Request(request.url, { method: 'POST', headers, body: sent }) }
}

const FORM = 'the body must be JSON such as {"type":"order.paid","timestamp":"2026-11-30T10:00:00Z","data":{}}'

async function findPrincipal(
  { timers, log }: { readonly timers: ServerWorld['timers']; readonly log: Logger },
  { name, principal }: Pick<KnownSender, 'name' | 'principal'>,
  session: string,
): Promise<Known> {
  if (typeof principal !== 'function') return principal
  const id = decodePath(session)
  try {
    const found = await waitForIdentity(timers, (async () => await principal(id))())
    if (found) checkPrincipal(found, `webhooks["${name}"].principal`)
    return found
  } catch (cause) {
    log.warn('the owner of a session could not be found for a webhook', {
      sender: name,
      cause: describeThrown(cause),
    })
    throw new BatonError({ code: 'keys_unavailable', message: 'the owner of the session cannot be found now', cause })
  }
}
