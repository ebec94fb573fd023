// What the variables say about a provider: its key, its address, its model. Variables are handed in; nothing here reads the
// environment. A key is never shown, not even a broken one.
import { BatonError } from '@baton/core'
import type { Preset } from './presets.ts'
import { PRESETS, presetOf } from './presets.ts'
import { placeOf } from './transport/redact.ts'
import { isHeaderValue, isHttpUrl } from './transport/transport-errors.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** Where a provider's settings stand. */
export type ProviderVariables = Pick<
  Preset,
  'label' | 'baseUrl' | 'baseUrlVariable' | 'keyVariable' | 'needsKey' | 'modelVariable' | 'defaultModel'
>

export const ANTHROPIC: ProviderVariables = {
  label: 'Anthropic',
  baseUrl: 'https://api.anthropic.com',
  baseUrlVariable: 'ANTHROPIC_BASE_URL',
  keyVariable: 'ANTHROPIC_API_KEY',
  needsKey: true,
  modelVariable: 'ANTHROPIC_MODEL',
  defaultModel: 'claude-haiku-4-5',
}

/** Providers whose models are asked over a network, in the order in which a key is looked for. */
export const NETWORK_PROVIDERS: readonly string[] = ['anthropic', ...Object.keys(PRESETS)]

export function variablesOf(provider: string): ProviderVariables | undefined {
  return provider === 'anthropic' ? ANTHROPIC : presetOf(provider)
}

export interface ProviderSettings {
  readonly model: string
  readonly apiKey: string | undefined
  /** Absent: the adapter's own. */
  readonly baseUrl: string | undefined
}

/**
 * What is needed to ask a model; `model` undefined takes the one of the variables.
 * @throws BatonError `model_not_configured` when something is missing, `invalid_option` when something cannot be used
 */
export function settingsOf(provider: string, model: string | undefined, variables: Variables): ProviderSettings {
  const known = variablesOf(provider)
  if (!known) throw new BatonError({ code: 'unknown_model', message: `no provider is named "${provider}"` })
  const named = model ?? valueOf(variables, known.modelVariable) ?? known.defaultModel
  if (named === undefined)
    throw notConfigured(
      `the provider ${provider} needs a model; name it "${provider}/<model>" or set ${known.modelVariable}`,
    )
  const id = `${provider}/${named}`
  const apiKey = valueOf(variables, known.keyVariable)
  if (apiKey === undefined && known.needsKey)
    throw notConfigured(`the model ${id} needs a key; set ${known.keyVariable}, or use the model "offline"`)
  return { model: named, apiKey: checkedKey(known, variables), baseUrl: addressOf(provider, id, variables) }
}

/** The server's address and key, for what is asked of a server itself. @throws as `settingsOf` */
export function serverOf(provider: string, variables: Variables): Omit<ProviderSettings, 'model'> {
  const { apiKey, baseUrl } = settingsOf(provider, '<model>', variables)
  return { apiKey, baseUrl }
}

function addressOf(provider: string, id: string, variables: Variables): string | undefined {
  const known = variablesOf(provider)
  const address = known && checkedAddress(known, variables)
  if (known && address === undefined && known.baseUrl === undefined)
    throw notConfigured(`the model ${id} needs the address of its server; set ${known.baseUrlVariable}`)
  return address
}

/** @throws BatonError `invalid_option` */
export function checkedAddress(known: ProviderVariables, variables: Variables): string | undefined {
  const text = valueOf(variables, known.baseUrlVariable)
  // The path of the API is put behind it.
  if (text === undefined || (isHttpUrl(text) && !/[?#]/.test(text))) return text
  const example = known.baseUrl ?? 'http://127.0.0.1:8000/v1'
  const shown = placeOf(text).slice(0, 40)
  throw wrongVariable(`${known.baseUrlVariable} must be an address such as ${example}, without a query, not "${shown}"`)
}

/** @throws BatonError `invalid_option` */
export function checkedKey(known: ProviderVariables, variables: Variables): string | undefined {
  const key = valueOf(variables, known.keyVariable)
  if (key === undefined || isHeaderValue(key)) return key
  throw wrongVariable(
    `${known.keyVariable} has a line break or another character that no key has; set it to the key alone`,
  )
}

export function wrongVariable(message: string): BatonError {
  return new BatonError({ code: 'invalid_option', message })
}

/** Blank is as good as absent. */
export function valueOf(variables: Variables, name: string): string | undefined {
  const text = variables[name]?.trim()
  return text === '' ? undefined : text
}

function notConfigured(message: string): BatonError {
  return new BatonError({ code: 'model_not_configured', message })
}
