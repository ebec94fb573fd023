// Tools that a provider runs itself, as a user gives them in `settings.serverTools`: under which name a provider's stand, and
// whether a request may be made to call one.
import type { JsonObject, ModelRequest, ModelSettings } from '@baton/core'
import { BatonError, nameServerTool } from '@baton/core'
import { closestMatch } from 'leven'

/** Names under which somebody looks: Baton's adapters and presets, the bridge to the AI SDK, and that SDK's own names. */
const PROVIDERS: readonly string[] =
  'anthropic openai openai-chat azure openai-compatible ollama lmstudio vllm groq openrouter deepseek mistral xai together fireworks cerebras gemini bedrock perplexity gguf ai-sdk google vertex google-vertex googleVertex amazon-bedrock amazonBedrock gateway openaiCompatible moonshotai cohere togetherai deepinfra alibaba'.split(
    ' ',
  )

/** Common names of providers that have another name here. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['claude', 'anthropic'],
  ['gpt', 'openai'],
  ['chatgpt', 'openai'],
  ['aws', 'bedrock'],
  ['amazon', 'bedrock'],
  ['google-ai', 'gemini'],
  ['x-ai', 'xai'],
  ['grok', 'xai'],
])

/**
 * Other names are those of other providers: an agent may have settings for several, and servers have names of their users' choice.
 * @throws BatonError `model_invalid_request` for a name that looks like a slip
 */
export function checkProviderNames(settings: ModelSettings, provider: string): void {
  for (const field of ['provider', 'serverTools'] as const)
    for (const name of Object.keys(settings[field] ?? {})) {
      const near = name === provider ? undefined : findMeant(name, provider)
      if (near !== undefined)
        throw new BatonError({
          code: 'model_invalid_request',
          message: `settings.${field} has the name "${name}", which no provider has; did you mean "${near}"?`,
          hint: `Settings for one provider stand under its name, which is what stands before the "/" of a model's id. If a server of yours has the name "${name}", give it one that is less like "${near}".`,
        })
    }
}

function findMeant(name: string, provider: string): string | undefined {
  if (PROVIDERS.includes(name)) return undefined
  const meant = OTHER_NAMES.get(name.toLowerCase())
  if (meant !== undefined) return meant
  const near = closestMatch(name.toLowerCase(), [...PROVIDERS, provider], { maxDistance: name.length < 6 ? 1 : 2 })
  // `gpu-2` beside `gpu-1` is another server, and no slip.
  return near?.replace(/\d/g, '') === name.replace(/\d/g, '') ? undefined : near
}

/**
 * @param tools those that the request has already, as the wire has them
 * @throws BatonError `model_invalid_request` for two tools of one name
 */
export function checkServerTools(added: readonly JsonObject[], tools: readonly JsonObject[], provider: string): void {
  const names = new Set(tools.flatMap((tool) => nameServerTool(tool) ?? []))
  for (const tool of added) {
    const name = nameServerTool(tool)
    if (name === undefined) continue
    if (names.has(name))
      throw new BatonError({
        code: 'model_invalid_request',
        message: `settings.serverTools.${provider} has the name "${name}", which another tool of the request has, too`,
        hint: 'Give each tool once, and the tools of the agent names of their own.',
      })
    names.add(name)
  }
}

/**
 * The provider's own tool that the request must call; undefined where the choice is another.
 * @param more those that the adapter was made with
 * @throws BatonError `model_invalid_request` when the choice names a tool that the request does not have
 */
export function findChosenServerTool(
  { toolChoice, tools, settings }: ModelRequest,
  provider: string,
  more: readonly JsonObject[] = [],
): JsonObject | undefined {
  if (toolChoice.type !== 'tool' || tools.some(({ name }) => name === toolChoice.name)) return undefined
  const own = [...more, ...(settings.serverTools?.[provider] ?? [])]
  const chosen = own.find((tool) => nameServerTool(tool) === toolChoice.name)
  if (chosen) return chosen
  throw new BatonError({
    code: 'model_invalid_request',
    message: `toolChoice names "${toolChoice.name}", which is not among the request’s tools`,
  })
}

/** @throws BatonError `model_invalid_request` when the choice names a tool of the provider's own, or one that is not there */
export function refuseChosenServerTool(request: ModelRequest, provider: string): void {
  const chosen = findChosenServerTool(request, provider)
  if (!chosen) return
  throw new BatonError({
    code: 'model_invalid_request',
    message: `toolChoice names "${nameServerTool(chosen)}", which ${provider} runs itself: its API has no way to demand such a tool`,
    hint: 'Leave the choice to the model (`auto`) and ask for the tool in the instructions.',
  })
}
