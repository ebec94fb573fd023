// Generates packages/models/src/listed-models-extract.ts from the price list of @pydantic/genai-prices: names and context
// windows, without the prices, which are most of the list.
import { findProvider } from '@pydantic/genai-prices'
import type { ListedProvider } from '../packages/models/src/listed-models.ts'
import { LISTED_PROVIDERS } from '../packages/models/src/listed-models.ts'

const HEAD = `// Names and context windows of models, by provider, as JSON texts. Generated from @pydantic/genai-prices by
// \`npm run docs\`; listed-models.ts reads it.

export const EXTRACT: Readonly<Record<string, string>> = {
`

export function listedModels(): string {
  const own = new Set(Object.values(LISTED_PROVIDERS))
  const others = [...own].flatMap((id) => findProvider({ providerId: id })?.fallback_model_providers ?? [])
  const lines = [...new Set([...own, ...others])].map((id) => {
    const text = JSON.stringify(extract(id))
      .replaceAll('\\', '\\\\')
      .replaceAll("'", String.raw`\'`)
    return `  ${/^\w+$/.test(id) ? id : `'${id}'`}:\n    '${text}',\n`
  })
  return `${HEAD}${lines.join('')}}\n`
}

function extract(id: string): ListedProvider {
  const listed = findProvider({ providerId: id })
  const models = listed?.models ?? []
  return {
    words: [...new Set(models.flatMap((model) => model.id.toLowerCase().match(/[a-z]+/g) ?? []))],
    also: listed?.fallback_model_providers ?? [],
    models: models.map(({ match, context_window: window }) => (window === undefined ? [match] : [match, window])),
  }
}
