// Generates the providers' table in docs/providers.md: how to set up each provider, and the capabilities that its
// models report.
import type { Model } from '@baton/core'
import type { ProviderVariables } from '@baton/models/internal'
import { createModelOf } from '@baton/models/choose-model'
import { NETWORK_PROVIDERS, findVariables } from '@baton/models/internal'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { findPreset } from '../packages/models/src/presets.ts'
import { withGeneratedPart } from './generated-part.ts'

/** The page docs/providers.md with the table from the code; the rest is written by hand or by other tests. */
export function providersPage(): string {
  return withGeneratedPart('docs/providers.md', 'providers', providersTable())
}

const HEAD = ['Name', 'Key', 'Address', 'Default model', 'Typed answers']

function providersTable(): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const table = [line(HEAD), line(HEAD.map(() => '---')), ...NETWORK_PROVIDERS.map((name) => line(buildRow(name)))]
  const wires = Object.entries(WIRES).map(([name, wire]) => `${wire} (\`${name}\`)`)
  const probed = NETWORK_PROVIDERS.filter((name) => findPreset(name)?.quirks.tools === 'unknown')
  return `${table.join('\n')}

The wire is Chat Completions, else ${listWords(wires, 'or')}. Calls are native; for ${listWords(
    probed.map((name) => `\`${name}\``),
    'and',
  )} they go into the prompt if a probe finds no native ones.`
}

function listWords(words: readonly string[], last: string): string {
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
}

function buildRow(provider: string): readonly string[] {
  const known = findVariables(provider)
  if (!known) throw new Error(`${provider} has no variables`)
  const { capabilities } = modelOf(provider, known)
  return [
    `\`${provider}/…\``,
    findKey(known),
    findAddress(known),
    [`\`${known.modelVariable}\``, ...(known.defaultModel === undefined ? [] : [`\`${known.defaultModel}\``])].join(
      ', else ',
    ),
    { native: 'native', 'without-tools': 'native, prompt with tools', none: 'prompt' }[capabilities.output ?? 'none'],
  ]
}

const WIRES: Readonly<Record<string, string>> = {
  anthropic: 'Messages',
  openai: 'Responses',
  gemini: 'streamGenerateContent',
  bedrock: 'ConverseStream',
}

/** Does not send a request: a model reports its capabilities before it is used. */
function modelOf(provider: string, known: ProviderVariables): Model {
  const variables = { [known.keyVariable]: 'key', [known.baseUrlVariable]: known.baseUrl ?? 'http://127.0.0.1/v1' }
  const create = createModelOf({
    variables,
    transport: createUndiciTransport({ variables: {} }),
    clock: { nowMs: () => 0 },
  })
  return create(`${provider}/${known.defaultModel ?? 'model'}`)
}

function findKey({ keyVariable, otherKeyVariable, needsKey }: ProviderVariables): string {
  const names = [keyVariable, ...(otherKeyVariable === undefined ? [] : [otherKeyVariable])]
  return `${names.map((name) => `\`${name}\``).join(' or ')}${needsKey ? '' : ', optional'}`
}

function findAddress({ baseUrlVariable, baseUrl }: ProviderVariables): string {
  return baseUrl === undefined ? `\`${baseUrlVariable}\`, required` : `\`${baseUrlVariable}\`, else \`${baseUrl}\``
}
