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

const HEAD = ['Name', 'Wire', 'Key', 'Address', 'Model, if none is given', 'Calls', 'Typed answers', 'Images']

function providersTable(): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(HEAD), line(HEAD.map(() => '---')), ...NETWORK_PROVIDERS.map((name) => line(buildRow(name)))].join('\n')
}

function buildRow(provider: string): readonly string[] {
  const known = findVariables(provider)
  if (!known) throw new Error(`${provider} has no variables`)
  const { capabilities } = modelOf(provider, known)
  return [
    `\`${provider}/…\``,
    WIRES[provider] ?? 'Chat Completions',
    findKey(known),
    findAddress(known),
    [`\`${known.modelVariable}\``, ...(known.defaultModel === undefined ? [] : [`\`${known.defaultModel}\``])].join(
      ', else ',
    ),
    findPreset(provider)?.quirks.tools === 'unknown' ? 'native, or in the prompt if a probe finds none' : 'native',
    { native: 'native', 'without-tools': 'native without tools, else in the prompt', none: 'in the prompt' }[
      capabilities.output ?? 'none'
    ],
    capabilities.images ? 'yes' : 'no',
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
  return `${names.map((name) => `\`${name}\``).join(' or ')}${needsKey ? '' : ', if required'}`
}

function findAddress({ baseUrlVariable, baseUrl }: ProviderVariables): string {
  return baseUrl === undefined ? `\`${baseUrlVariable}\`, required` : `\`${baseUrlVariable}\`, else \`${baseUrl}\``
}
