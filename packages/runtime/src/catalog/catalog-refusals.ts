// Catalog errors: invalid options and unknown models.
import type { Agent, Model, Usage } from '@baton/core/internal'
import { BatonError, describeValue } from '@baton/core/internal'

/** Longest time, in milliseconds, to wait for an interrupted model. */
const INTERRUPT_MAX_MS = 60_000

/** @throws BatonError `invalid_option` */
export function checkInterrupt(ms: number): void {
  if (ms >= 0 && ms <= INTERRUPT_MAX_MS) return
  throw new BatonError({ code: 'invalid_option', message: `interruptMs must be 0 to ${INTERRUPT_MAX_MS}, not ${ms}` })
}

export function createUnknownModelError(id: string, hasModelOf: boolean): BatonError {
  const message = `no model is named "${id}"`
  if (hasModelOf) return new BatonError({ code: 'unknown_model', message })
  return new BatonError({ code: 'unknown_model', message: `${message}: this host has no modelOf` })
}

/** @throws BatonError `unknown_model` for an agent whose models are names */
export function checkNamed({ models }: Agent): void {
  const named = models.find((model) => typeof model === 'string')
  if (named !== undefined) throw createUnknownModelError(named, false)
}

/** @throws BatonError `invalid_agent` if the value was not made by `defineAgent` */
export function checkAgent(agent: unknown): asserts agent is Agent {
  const { name, tools, limits } = (agent ?? {}) as Partial<Agent>
  if (typeof name === 'string' && Array.isArray(tools) && typeof limits === 'object') return
  throw new BatonError({
    code: 'invalid_agent',
    message: `an agent must be made by defineAgent, not ${describeValue(agent)}`,
    hint: 'Pass the result of defineAgent({ name, model, tools }).',
  })
}

/** A name would skip `agentOf`, and with it the session's own services, models and tools. */
export function createBypassError(name: string): BatonError {
  return new BatonError({
    code: 'invalid_agent',
    message: `this host chooses agents with agentOf, so a session cannot name the agent "${name.slice(0, 100)}"`,
    hint: 'Let agentOf choose by id, principal or meta of the session, or pass the agent itself.',
  })
}

/** A call large enough to have a price for any model that has one. */
const PRICED: Usage = { inputTokens: 1_000_000, outputTokens: 1_000_000 }

interface Prices {
  readonly priceOf?: ((model: string, usage: Usage) => number | undefined) | undefined
  readonly modelOf?: ((id: string) => Model) | undefined
}

/**
 * A cost limit needs a known price. Models that run on this machine have none.
 * @throws BatonError `model_not_configured`
 */
export function checkPriced(
  { name, limits }: Pick<Agent, 'name' | 'limits'>,
  asked: string | Model,
  { priceOf, modelOf }: Prices,
): void {
  if (limits.turnCostMicros === Number.MAX_SAFE_INTEGER) return
  const model = typeof asked === 'string' ? asked : asked.id
  if (priceOf?.(model, PRICED) !== undefined || runsHere(asked, modelOf)) return
  throw new BatonError({
    code: 'model_not_configured',
    message: `the agent "${name}" limits the cost of a turn (limits.turnCostMicros), but the price of its model "${model}" is unknown`,
    hint: `Set its price on the host or the worker: priceOf: createPriceOf({ '${model}': { input: 1, output: 5 } }), in dollars per million tokens.`,
  })
}

function runsHere(asked: string | Model, modelOf: Prices['modelOf']): boolean {
  try {
    const model = typeof asked === 'string' ? modelOf?.(asked) : asked
    return model?.capabilities.network === false
  } catch {
    return false // not configured: it fails when it is called
  }
}
