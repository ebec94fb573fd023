// Prices of model calls, from the price list of @pydantic/genai-prices; a user's own prices win. Unlisted models have
// no cost: unknown is better than wrong. Nothing is fetched.
import type { Usage } from '@baton/core'
import { BatonError, checkFields, describeValue } from '@baton/core/internal'
import { calcPrice } from '@pydantic/genai-prices'
import { LISTED_PROVIDERS } from './listed-models.ts'

/** US dollars per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  /** Same as `input` by default. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** Keyed by model id as users write it: `anthropic/claude-haiku-4-5`. */
export type Prices = Readonly<Record<string, Price>>

/** Whole millionths of a US dollar; `undefined` if the price or the token count is unknown. */
export type PriceOf = (model: string, usage: Usage) => number | undefined

/**
 * Returns a function that prices a model call, from your prices or the list that is shipped; `undefined` for an unknown
 * model.
 * @throws BatonError `invalid_option` for a price that is not one
 */
export function createPriceOf(own: Prices = {}): PriceOf {
  for (const [model, price] of Object.entries(own)) checkPrice(`the price of ${model}`, price)
  return (model, usage) => {
    const { inputTokens, outputTokens } = usage
    if (inputTokens === undefined || outputTokens === undefined) return undefined
    const price = Object.hasOwn(own, model) ? own[model] : undefined
    const micros = price ? computeMicros(price, usage) : listedMicros(model, usage)
    return micros === undefined || !Number.isFinite(micros) ? undefined : Math.round(micros)
  }
}

const RATES = ['input', 'output', 'cacheRead', 'cacheWrite'] as const
const FIELDS = {
  fields: new Set<string>(RATES),
  elsewhere: { inputTokens: 'input', outputTokens: 'output', cached: 'cacheRead', cachedInput: 'cacheRead' },
}

/** A price that cannot be computed would leave its calls without a cost. @throws BatonError `invalid_option` */
function checkPrice(what: string, price: Price): void {
  checkFields(price, { what, code: 'invalid_option', ...FIELDS })
  for (const name of RATES) {
    const rate: unknown = price[name]
    const isOptional = name === 'cacheRead' || name === 'cacheWrite'
    if ((rate === undefined && isOptional) || (typeof rate === 'number' && rate >= 0 && rate < Infinity)) continue
    throw new BatonError({
      code: 'invalid_option',
      message: `${what}: ${name} must be dollars per million tokens, not ${describeValue(rate)}`,
      hint: 'Write such as { input: 1, output: 5 }.',
    })
  }
}

function computeMicros(price: Price, usage: Usage): number {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage
  const { input, output, cacheRead = input, cacheWrite = input } = price
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
  return fresh * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output
}

function listedMicros(model: string, usage: Usage): number | undefined {
  const [provider = '', ...rest] = model.split('/')
  const providerId = Object.hasOwn(LISTED_PROVIDERS, provider) ? LISTED_PROVIDERS[provider] : undefined
  if (providerId === undefined) return undefined
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage
  try {
    const found = calcPrice(
      {
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        cache_read_tokens: cacheReadTokens,
        cache_write_tokens: cacheWriteTokens,
      },
      rest.join('/'),
      { providerId },
    )
    return found ? found.total_price * 1_000_000 : undefined
  } catch {
    return undefined // inconsistent counts, or a kind of token without a listed price
  }
}
