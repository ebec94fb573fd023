// `baton models`: lists the providers and what each needs, or the models that one offers.
import { BatonError, isBatonError } from '@baton/core'
import type { ProviderVariables, Variables } from '@baton/models/internal'
import { listModelsOf } from '@baton/models/choose-model'
import { listOwnServers, NETWORK_PROVIDERS, findVariables } from '@baton/models/internal'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import { escapeControls, escapeLine } from '../terminal/escape-controls.ts'
import { withAddress } from '../words/model-options.ts'
import { tableLines } from '../words/table-lines.ts'
import { UsageError } from '../words/usage-error.ts'
import { readWords, suggestion } from '../words/words.ts'

const HELP = `baton models: list providers and models

  baton models            the providers, and what each one needs
  baton models PROVIDER   the models that the provider's server offers now, named as for --model

Options:
  --base-url URL use another address for that provider; on its own it implies openai-compatible
  --json         print one line of JSON per entry

Examples:
  baton models
  baton models ollama
  baton models --base-url http://gpu-1:8080/v1
`

export const modelsCommand: Command = { help: HELP, run: models }

async function models(words: readonly string[], terminal: Console): Promise<number> {
  const { values, positionals } = readWords(words, {
    command: 'models',
    options: { 'base-url': { type: 'string' }, json: { type: 'boolean', default: false } },
    words: ['PROVIDER'],
  })
  const { variables, model } = withAddress(terminal.variables, positionals[0], values['base-url'])
  const provider = model?.split('/')[0]
  if (provider === undefined) tellProviders(terminal, values.json)
  else await tellModels(provider, variables, { terminal, json: values.json })
  return 0
}

function tellProviders({ write, variables }: Console, json: boolean): void {
  const rows = [...NETWORK_PROVIDERS, ...listOwnServers(variables).keys()].flatMap((provider) => {
    const known = findVariables(provider, variables)
    return known ? [{ provider, state: readiness(known, variables), needs: needs(known) }] : []
  })
  if (json) {
    for (const row of rows) write(`${JSON.stringify(row)}\n`)
    return
  }
  const lines = tableLines([
    ['provider', 'now', 'needs'],
    ...rows.map(({ provider, state, needs: text }) => [provider, state, text]),
    ['offline', 'ready', 'nothing; it is a planner, not a language model'],
  ])
  write(
    `${lines.join('\n')}\n\n"baton models PROVIDER" lists the models of a server; --model PROVIDER/MODEL uses one.\n`,
  )
}

function isSet(variables: Variables, name: string): boolean {
  return (variables[name]?.trim() ?? '') !== ''
}

/** Reads only the variables; no request is sent. */
function readiness(known: ProviderVariables, variables: Variables): string {
  if (known.needsKey && !isSet(variables, known.keyVariable)) return 'no key'
  if (known.baseUrl === undefined && !isSet(variables, known.baseUrlVariable)) return 'no address'
  const hasModel = known.defaultModel !== undefined || isSet(variables, known.modelVariable)
  return hasModel ? 'ready' : 'name a model'
}

function needs(known: ProviderVariables): string {
  const key = known.needsKey ? [known.keyVariable] : []
  const address = known.baseUrl === undefined ? [`${known.baseUrlVariable} or --base-url`] : []
  const needed = [...key, ...address].join(', ')
  return needed === '' ? `a server at ${known.baseUrl}, or ${known.baseUrlVariable}` : needed
}

interface Telling {
  readonly terminal: Console
  readonly json: boolean
}

async function tellModels(provider: string, variables: Variables, { terminal, json }: Telling): Promise<void> {
  const known = findVariables(provider, variables)
  if (!known) {
    const near = suggestion(provider, NETWORK_PROVIDERS)
    throw new UsageError(
      `there is no provider "${provider}"${near || ';'} the providers are ${NETWORK_PROVIDERS.join(', ')}`,
    )
  }
  const listed = await listModelLines(provider, known, variables)
  if (json) for (const each of listed) terminal.write(`${escapeControls(JSON.stringify(each))}\n`)
  else if (listed.length === 0) terminal.note(`${known.label} offers no models`)
  else
    for (const { id, contextTokens } of listed)
      terminal.write(`${escapeLine(id)}${contextTokens === undefined ? '' : `  ${contextTokens} tokens`}\n`)
}

/** Lists need no model; only the message about a missing key must not mention one. */
async function listModelLines(provider: string, known: ProviderVariables, variables: Variables) {
  try {
    return await listModelsOf(provider, { variables })
  } catch (cause) {
    if (!isBatonError(cause) || cause.code !== 'model_not_configured') throw cause
    const missing = known.needsKey
      ? `a key; set ${known.keyVariable}`
      : `an address: --base-url, or ${known.baseUrlVariable}`
    throw new BatonError({ code: cause.code, message: `${provider} needs ${missing}`, cause })
  }
}
