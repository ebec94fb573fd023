// Prices of a command's models, loaded late: the list is large, and many starts need none of it.
import type { Agent, Logger, Model } from '@baton/core'
import type { PriceOf } from '@baton/models/prices'

export interface LatePricesOptions {
  readonly agent: Agent
  /** Finds a model by its name. */
  readonly find: (id: string) => Model
  readonly log?: Logger | undefined
  /** Default: the price list of `@baton/models`. */
  readonly load?: () => Promise<PriceOf>
}

export interface LatePrices {
  readonly priceOf: PriceOf
  /** Finds a model by its name; its first answer waits for the prices. */
  readonly modelOf: (id: string) => Model
}

/**
 * Loads the prices while a named model answers for the first time. Loads them now if a call could miss them: with a
 * limit on costs, and when the agent has a model that is an object, which nobody looks up by name. A list that does not
 * load costs no answer: the log has a warning, and costs are unknown.
 */
export async function openLatePrices({
  agent,
  find,
  log,
  load: read = readPriceList,
}: LatePricesOptions): Promise<LatePrices> {
  let known: PriceOf | undefined
  const load = async (): Promise<void> => {
    try {
      known ??= await read()
    } catch (cause) {
      log?.warn('the price list did not load; costs are unknown', { cause: String(cause) })
    }
  }
  if (needsNow(agent)) await load()
  const modelOf = (id: string): Model => {
    const model = find(id)
    if (known || model.provider === OFFLINE) return model
    const run: Model['run'] = async (...given) => {
      const [answer] = await Promise.all([model.run(...given), load()])
      return answer
    }
    return { ...model, run }
  }
  return { priceOf: (model, usage) => known?.(model, usage), modelOf }
}

const OFFLINE = 'offline'

async function readPriceList(): Promise<PriceOf> {
  return (await import('@baton/models/prices')).createPriceOf()
}

function needsNow({ limits, models, prepareStep }: Agent): boolean {
  if (limits.turnCostMicros < Number.MAX_SAFE_INTEGER) return true
  // `prepareStep` may return any model.
  return prepareStep !== undefined || models.some((model) => typeof model !== 'string' && model.provider !== OFFLINE)
}
