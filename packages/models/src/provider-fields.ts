// A user's settings for one provider: body fields, which override Baton's, and tools that the provider runs.
import type { JsonObject, JsonValue, ModelSettings } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import { checkProviderNames, checkServerTools } from './server-tools.ts'

/** Fields reserved for Baton: without its history, tools, model and stream it could not read the answer. */
const BATONS_OWN: ReadonlySet<string> = new Set([
  'messages',
  'input',
  'contents',
  'model',
  'stream',
  'tools',
  'toolConfig',
])

/**
 * Adds the provider's server tools and fields to the body. Objects are merged one level deep.
 * @throws BatonError `model_invalid_request` for a reserved field
 */
export function addProviderFields<Body extends object>(body: Body, settings: ModelSettings, provider: string): Body {
  checkProviderNames(settings, provider)
  const fields = settings.provider?.[provider]
  const serverTools = settings.serverTools?.[provider] ?? []
  if (!fields && serverTools.length === 0) return body
  const added = addServerTools(body as Record<string, unknown>, serverTools, provider) // an object of arbitrary fields
  checkProviderFields(fields ?? {}, provider)
  for (const [name, value] of Object.entries(fields ?? {})) {
    const before = added[name]
    added[name] = isJsonObject(before) && isJsonObject(value) ? { ...before, ...value } : value
  }
  return added as Body // the original body plus fields that its type does not declare
}

/** @throws BatonError `model_invalid_request` for a reserved field */
export function checkProviderFields(fields: JsonObject, provider: string): void {
  const taken = Object.keys(fields).find((name) => BATONS_OWN.has(name))
  if (taken !== undefined)
    throw new BatonError({
      code: 'model_invalid_request',
      message: `settings.provider.${provider} has the field "${taken}", which is reserved for Baton`,
      hint: 'Remove it: the history, the model, tools and streaming cannot be set for a provider. Its server tools go in settings.serverTools.',
    })
}

/** Bedrock's tools are in `toolConfig`. Baton's own are last, because the last tool carries the prompt cache mark. */
function addServerTools(
  body: Readonly<Record<string, unknown>>,
  tools: readonly JsonObject[],
  provider: string,
): Record<string, unknown> {
  if (tools.length === 0) return { ...body }
  const own = listTools(provider === 'bedrock' ? ((body['toolConfig'] ?? {}) as typeof body) : body) // as encoded
  checkServerTools(tools, own.filter(isJsonObject), provider)
  if (provider !== 'bedrock') return { ...body, tools: [...tools, ...own] }
  const config = (body['toolConfig'] ?? {}) as Readonly<Record<string, unknown>> // as encoded
  return { ...body, toolConfig: { ...config, tools: [...tools, ...own] } }
}

function listTools({ tools }: Readonly<Record<string, unknown>>): readonly JsonValue[] {
  return Array.isArray(tools) ? tools : []
}
