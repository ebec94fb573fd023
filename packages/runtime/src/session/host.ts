// A host as programs and fronts see it, over any engine. It checks who may open which session.
import type { Host, MessageId, Principal, Session, SessionDescription, SessionOptions } from '@baton/core/internal'
import {
  BatonError,
  CHILD_PREFIX,
  checkFields,
  checkName,
  checkSessionId,
  decodeDescription,
  describeValue,
} from '@baton/core/internal'
import type { Catalog } from '../catalog/catalog.ts'
import { checkAgent } from '../catalog/catalog-options.ts'
import type { CopyingEngine, Engine, SessionEngine } from '../engine.ts'
import { findMessage, rewindSession } from './find-message.ts'
import { readPerson } from './details.ts'
import { checkPrincipal, createPrincipalError } from './session-list.ts'
import { createSession } from './session.ts'
import { insist } from './submit.ts'

export interface HostOverOptions {
  readonly engine: Engine
  readonly newId: () => string
  /** The wall clock. */
  readonly wallMs: () => number
  /** Finds agents by their names. */
  readonly catalog: Pick<Catalog, 'find'>
}

const ANONYMOUS: Principal = { id: 'anonymous' }

export function createHostOver({ engine, newId, wallMs, catalog }: HostOverOptions): Host {
  let stopping: Promise<void> | undefined
  const isStopping = (): boolean => stopping !== undefined // a session that opens meanwhile checks it too

  const session = async (id?: string, options: SessionOptions = {}): Promise<Session> => {
    if (isStopping()) throw createStoppedError()
    checkFields(options, SESSION_FIELDS)
    const { principal = ANONYMOUS, existing = false } = options
    const agent = typeof options.agent === 'string' ? catalog.find(options.agent) : options.agent
    if (id !== undefined && typeof id !== 'string') throw createIdError(id)
    if (id !== undefined) checkSessionId(id)
    if (id?.startsWith(CHILD_PREFIX)) throw createChildError(id)
    if (typeof principal !== 'object' || principal === null) throw createPrincipalError(principal)
    if (principal.id !== '') checkName('principal.id', principal.id)
    checkPrincipal(principal, 'principal')
    const operator = options.by === undefined ? undefined : readPerson(options.by, 'by')
    if (agent !== undefined) checkAgent(agent)
    if (typeof existing !== 'boolean') throw createExistingError(existing)
    const description = decodeDescription(options.description ?? {})
    if (!description.ok) throw new BatonError(description.refusal)
    const { engine: opened, leave } = await engine.open(id ?? newId(), {
      principal,
      ...(agent && { agent }),
      ...(description.value.meta && { meta: description.value.meta }),
      mustExist: existing,
    })
    const refusal = isStopping()
      ? createStoppedError()
      : opened.state().principal === principal.id
        ? undefined
        : createForeignError(opened.session, principal)
    if (!refusal) {
      const session = createSession({
        engine: opened,
        principal,
        operator,
        newId,
        wallMs,
        onClose: leave,
        fork: (before) => forkSession({ engine, newId }, { opened, principal, before }),
      })
      if (options.description && opened.state().pos === 0) await describeNew(session, options.description)
      return session
    }
    leave()
    throw refusal
  }
  return {
    session: session as Host['session'], // the same session, with its agent's types
    // Not an async function: every call returns the same promise. A mistake in the options still rejects.
    stop: (options = {}) => {
      try {
        const drainMs = readDrainMs(options)
        return (stopping ??= engine.stop({ drainMs }))
      } catch (mistake) {
        return Promise.reject(mistake)
      }
    },
  }
}

function readDrainMs(options: { readonly drainMs?: number }): number {
  checkFields(options, STOP_FIELDS)
  const { drainMs = 0 } = options
  if (typeof drainMs === 'number' && drainMs >= 0) return drainMs
  throw new BatonError({
    code: 'invalid_option',
    message: `drainMs must be a number of milliseconds, not ${describeValue(drainMs)}`,
  })
}

const STOP_FIELDS = {
  what: 'the argument of stop',
  code: 'invalid_option',
  fields: new Set(['drainMs']),
  elsewhere: { timeout: 'drainMs', timeoutMs: 'drainMs' },
} as const

const SESSION_FIELDS = {
  what: 'the second argument of session',
  code: 'invalid_option',
  fields: new Set(['agent', 'principal', 'by', 'description', 'existing']),
  elsewhere: {
    user: 'write principal: { id: userId }',
    userId: 'write principal: { id: userId }',
    resourceId: 'write principal: { id: userId }',
    title: 'write description: { title }',
    meta: 'write description: { meta }',
    metadata: 'write description: { meta }',
    id: 'the id is the first argument: session("chat-1")',
    model: 'call session.configure({ model }), or pass an agent with the model',
  },
} as const

function createIdError(given: unknown): BatonError {
  return new BatonError({
    code: 'invalid_option',
    message: `a session’s id must be text, not ${describeValue(given)}`,
    hint: 'Write session("chat-1"), or session("chat-1", { principal: { id: userId } }).',
  })
}

function createExistingError(given: unknown): BatonError {
  return new BatonError({
    code: 'invalid_option',
    message: `existing must be true or false, not ${describeValue(given)}`,
    hint: 'Write session("chat-1", { existing: true }) to open a session without creating it.',
  })
}

/** Refuses a child: the caller is its only client, and reads its answer. */
function createChildError(id: string): BatonError {
  return new BatonError({
    code: 'illegal_input',
    message: `session ${id} belongs to a call of another session`,
    hint: 'Open the session that made the call. Its events and approvals have what the other agent asks.',
  })
}

interface Forking {
  readonly opened: SessionEngine
  readonly principal: Principal
  readonly before: MessageId | undefined
}

/** @throws BatonError `illegal_input`, `unknown_input`, `store_failed` */
async function forkSession(
  { engine, newId }: Pick<HostOverOptions, 'engine' | 'newId'>,
  { opened, principal, before }: Forking,
): Promise<string> {
  if (!('copyTo' in opened))
    throw new BatonError({ code: 'illegal_input', message: 'this kind of host cannot copy a session' })
  if (before !== undefined) await findMessage(opened, before)
  const id = newId()
  await (opened as CopyingEngine).copyTo(id) // checked above: it has the method
  if (before === undefined) return id
  const { engine: copy, leave } = await engine.open(id, { principal, agent: opened.world.agent })
  try {
    const isCopied = await findMessage(copy, before).catch(() => undefined)
    const outcome = isCopied && (await rewindSession(copy, { message: before, inputId: newId() }))
    if (outcome) insist(outcome)
  } finally {
    leave()
  }
  return id
}

/** The error of a stopped host. */
export function createStoppedError(): BatonError {
  return new BatonError({ code: 'host_stopped', message: 'the host was stopped' })
}

export function createForeignError(session: string, { id }: Principal): BatonError {
  return new BatonError({ code: 'unauthorized', message: `session ${session} belongs to a principal other than ${id}` })
}

/** @throws BatonError `invalid_event` for a title or metadata that is too long */
async function describeNew(session: Session, description: SessionDescription): Promise<void> {
  try {
    await session.describe(description)
  } catch (cause) {
    await session.close()
    throw cause
  }
}
