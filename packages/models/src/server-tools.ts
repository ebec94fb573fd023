// Provider-run tools from `settings.serverTools`: the names that providers' tools are listed under, and whether a
// request can force a call to one.
import type { JsonObject, ModelRequest, ModelSettings } from '@baton/core/internal'
import { BatonError, findMisspelt, nameServerTool } from '@baton/core/internal'

/** Known names: Baton's adapters and presets, the AI SDK bridge, and the AI SDK's own names. */
const PROVIDERS: readonly string[] =
  'anthropic openai openai-chat azure openai-compatible ollama lmstudio vllm groq openrouter deepseek mistral xai together fireworks cerebras gemini bedrock perplexity gguf ai-sdk google vertex google-vertex googleVertex amazon-bedrock amazonBedrock gateway openaiCompatible moonshotai cohere togetherai deepinfra alibaba'.split(
    ' ',
  )

/** Common names of providers that are named differently here. */
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
 * Other names are allowed, because they may belong to other providers: an agent may have settings for several, and
 * users choose their servers' names.
 * @throws BatonError `model_invalid_request` for a name that looks like a typo
 */
export function checkProviderNames(settings: ModelSettings, provider: string): void {
  for (const field of ['provider', 'serverTools'] as const)
    for (const name of Object.keys(settings[field] ?? {})) {
      const near = name === provider ? undefined : findMeant(name, provider)
      if (near !== undefined)
        throw new BatonError({
          code: 'model_invalid_request',
          message: `settings.${field} has the name "${name}", which no provider uses; did you mean "${near}"?`,
          hint: `List the settings of a provider under its name, the part before the "/" of a model's id. If "${name}" is a server of yours, give it a name that is less similar to "${near}".`,
        })
    }
}

function findMeant(name: string, provider: string): string | undefined {
  if (PROVIDERS.includes(name)) return undefined
  const meant = OTHER_NAMES.get(name.toLowerCase())
  if (meant !== undefined) return meant
  const near = findMisspelt([...PROVIDERS, provider], name.toLowerCase(), name.length < 6 ? 1 : 2)
  // `gpu-2` next to `gpu-1` is another server, not a typo.
  return near?.replace(/\d/g, '') === name.replace(/\d/g, '') ? undefined : near
}

/**
 * @param tools tools already in the request, in wire format
 * @throws BatonError `model_invalid_request` if two tools share a name
 */
export function checkServerTools(added: readonly JsonObject[], tools: readonly JsonObject[], provider: string): void {
  const names = new Set(tools.flatMap((tool) => nameServerTool(tool) ?? []))
  for (const tool of added) {
    const name = nameServerTool(tool)
    if (name === undefined) continue
    if (names.has(name))
      throw new BatonError({
        code: 'model_invalid_request',
        message: `settings.serverTools.${provider} has the name "${name}", which another tool of the request already uses`,
        hint: "List each tool once, and use different names for the agent's own tools.",
      })
    names.add(name)
  }
}

/**
 * Returns the server tool that the request must call; `undefined` for any other choice.
 * @param more tools the adapter was created with
 * @throws BatonError `model_invalid_request` if the choice names a tool that is not in the request
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

/** @throws BatonError `model_invalid_request` if the choice names a server tool, or a tool that does not exist */
export function refuseChosenServerTool(request: ModelRequest, provider: string): void {
  const chosen = findChosenServerTool(request, provider)
  if (!chosen) return
  throw new BatonError({
    code: 'model_invalid_request',
    message: `toolChoice names "${nameServerTool(chosen)}", which ${provider} runs itself: its API cannot force such a tool`,
    hint: 'Leave the choice to the model (`auto`) and ask for the tool in the instructions.',
  })
}
