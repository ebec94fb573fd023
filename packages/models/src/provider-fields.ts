// A user's settings for one provider: fields of a request's body, which go out as they are and over Baton's own, and tools that
// the provider runs.
import type { JsonObject, JsonValue, ModelSettings } from '@baton/core'
import { BatonError, isJsonObject } from '@baton/core'
import { checkProviderNames, checkServerTools } from './server-tools.ts'

/** Fields that Baton sets itself: without its history, tools, model and stream it could not read the answer. */
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
 * The body with the tools that the provider runs, and with its own fields; objects are joined, one level deep.
 * @throws BatonError `model_invalid_request` for a field that is Baton's
 */
export function addProviderFields<Body extends object>(body: Body, settings: ModelSettings, provider: string): Body {
  checkProviderNames(settings, provider)
  const fields = settings.provider?.[provider]
  const serverTools = settings.serverTools?.[provider] ?? []
  if (!fields && serverTools.length === 0) return body
  const added = addServerTools(body as Record<string, unknown>, serverTools, provider) // an object of fields, whatever they are
  checkProviderFields(fields ?? {}, provider)
  for (const [name, value] of Object.entries(fields ?? {})) {
    const before = added[name]
    added[name] = isJsonObject(before) && isJsonObject(value) ? { ...before, ...value } : value
  }
  return added as Body // the body of before, with fields that the provider's own types do not know here
}

/** @throws BatonError `model_invalid_request` for a field that is Baton's */
export function checkProviderFields(fields: JsonObject, provider: string): void {
  const taken = Object.keys(fields).find((name) => BATONS_OWN.has(name))
  if (taken !== undefined)
    throw new BatonError({
      code: 'model_invalid_request',
      message: `settings.provider.${provider} has the field "${taken}", which is Baton's own`,
      hint: 'Leave it out: the history, the model, tools and streaming cannot be set for a provider. Its own tools go in settings.serverTools.',
    })
}

/** Bedrock's list of tools stands in its `toolConfig`. Baton's own come last: the mark of the prompt cache is on the last. */
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
