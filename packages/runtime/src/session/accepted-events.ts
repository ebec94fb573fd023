// Events from outside: which ones a session's agent accepts, and whether one was accepted before. It decides nothing.
import type { UrgentEvent } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import { RULES } from '@baton/core/machine'
import type { SessionWorld } from '../catalog/catalog.ts'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'
import type { SessionEngine } from '../engine.ts'

/** Time limit of a schema, in milliseconds. */
const CHECK_MS = 10_000
/** Names of kinds in an error. */
const NAMED_MAX = 20

/**
 * Returns the event as it is submitted: an untrusted kind is marked.
 * @throws BatonError `invalid_event` for a kind that the agent does not declare, or data that does not fit its schema
 */
export async function checkEvent(
  { agent, validator, timers }: Pick<SessionWorld, 'agent' | 'validator' | 'timers'>,
  event: UrgentEvent,
): Promise<UrgentEvent & { readonly untrusted?: string }> {
  const { name, detail = {} } = event
  const kinds = agent.events ?? {}
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  if (!kind) throw createUnknownError(agent.name, name, Object.keys(kinds))
  const schema = kind.data ?? { type: 'object' }
  const refuse = (issues: string): BatonError =>
    new BatonError({ code: 'invalid_event', message: `the event "${name}" was not accepted: ${issues}` })
  const error = (): BatonError => refuse(`its schema took longer than ${CHECK_MS} ms`)
  const checking = (async () =>
    await validator.validate({ input: schema, subject: 'the data is' }, JSON.stringify(detail)))()
  const checked = await within(timers, { timeoutMs: CHECK_MS, error }, checking).catch((cause: unknown) => {
    throw isBatonError(cause) ? cause : refuse(`its schema failed: ${describeThrown(cause)}`)
  })
  if (!checked.ok) throw refuse(checked.issues)
  return { ...event, ...(kind.trust === 'untrusted' && { untrusted: name }) }
}

function createUnknownError(agent: string, name: string, kinds: readonly string[]): BatonError {
  const named = kinds.slice(0, NAMED_MAX).join(', ')
  const more = kinds.length > NAMED_MAX ? ` and ${kinds.length - NAMED_MAX} more` : ''
  return new BatonError({
    code: 'invalid_event',
    message: `the agent "${agent}" does not accept the event "${name.slice(0, 100)}"; it accepts ${named || 'none'}${more}`,
    hint: 'An agent declares its events, such as defineAgent({ events: { "order.paid": { data: schema } } }).',
  })
}

/**
 * The position at which the event was accepted. The machine remembers the last inputs; older ones are found in the log.
 * @throws BatonError `store_failed`, `log_damaged`
 */
export async function findEvent(engine: SessionEngine, inputId: string): Promise<number | undefined> {
  const recent = engine.state().recentInputs
  const known = recent.find((one) => one.inputId === inputId)
  if (known) return known.pos
  // A session with fewer inputs has all of them there.
  if (recent.length < RULES.remembered) return undefined
  const found = await engine.stream.index.locate(inputId)
  return found?.input?.pos ?? found?.section?.pos
}
