// Options of `baton serve`, checked from words and variables.
import type { Permissions } from '@baton/core'
import type { AllowedSettings } from '@baton/server/internal'
import type { Console } from '../console.ts'
import { wholeNumber } from './limit-options.ts'
import type { NamedFile, OperatorWords } from './operator-options.ts'
import { readNamed, readOperators } from './operator-options.ts'
import { MCP_OPTION } from '../words/mcp-option.ts'
import { PERMISSION_WORDS, readPermissions } from '../words/permission-options.ts'
import type { ServerOptions } from './server-options.ts'
import { SERVER_WORDS, readOrigin, serverOptions, withProxyCount } from './server-options.ts'
import type { StoreLocation } from '../places/store-location.ts'
import { storeLocation } from '../places/store-location.ts'
import { UsageError } from '../words/usage-error.ts'
import type { TemporalPlace } from './temporal-options.ts'
import { readTemporalPlace, TEMPORAL_WORDS } from './temporal-options.ts'
import type { Variables } from '../words/words.ts'
import { numberOfVariable, readWords } from '../words/words.ts'

export interface ServeOptions {
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly baseUrl: string | undefined
  readonly host: string
  readonly mcp: readonly string[]
  readonly permissions: Permissions | undefined
  readonly port: number
  readonly origins: readonly string[] | undefined
  readonly json: boolean
  /** Exchanges of the window, from MAX_TURNS. */
  readonly exchanges: number | undefined
  readonly store: StoreLocation
  /** Days to keep a session after its last use; indefinitely if absent. */
  readonly keepDays: number | undefined
  readonly server: ServerOptions
  /** Settings that apps and pages may choose for their turns. */
  readonly allow: AllowedSettings
  /** Set if sessions are workflows of this service. */
  readonly temporal: TemporalPlace | undefined
  /** Whether editors may connect at `/acp`. */
  readonly acp: boolean
  readonly acpV2: boolean
  /** Operators of the console, if there are any. */
  readonly operators: readonly OperatorWords[]
  readonly webhooks: readonly NamedFile[]
  /** The other arguments, if the server is to restart at every change. */
  readonly dev: readonly string[] | undefined
}

/** @throws UsageError */
export function serveOptions(
  words: readonly string[],
  { variables, folder }: Pick<Console, 'variables' | 'folder'>,
): ServeOptions {
  const { values } = readWords(withProxyCount(words), {
    command: 'serve',
    options: {
      agent: { type: 'string' },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      mcp: MCP_OPTION,
      ...PERMISSION_WORDS,
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string' },
      store: { type: 'string' },
      'keep-days': { type: 'string' },
      'allow-origin': { type: 'string', multiple: true },
      'allow-model': { type: 'string', multiple: true },
      'allow-temperature': { type: 'boolean', default: false },
      'allow-output-tokens': { type: 'string' },
      json: { type: 'boolean', default: false },
      acp: { type: 'boolean', default: false },
      'acp-v2': { type: 'boolean', default: false },
      console: { type: 'string', multiple: true },
      'console-powers': { type: 'string', multiple: true },
      webhook: { type: 'string', multiple: true },
      ...SERVER_WORDS,
      ...TEMPORAL_WORDS,
    },
  })
  if (values.host.trim() === '')
    throw new UsageError('--host must not be empty; use 0.0.0.0 for every address of the machine')
  const store = storeLocation(values.store, variables, folder)
  const server = serverOptions(values, variables)
  if (server.peers && store.type !== 'postgres')
    throw new UsageError('--peer-address needs a store shared by several servers: --store postgres://HOST/DATABASE')
  const temporal = readTemporalPlace(values, store, variables)
  if (temporal && values.mcp)
    throw new UsageError('--mcp has no effect over Temporal, where workers run the tools; pass it to "baton worker"')
  const permissions = readPermissions(values)
  if (temporal && permissions)
    throw new UsageError(
      '--allow, --deny, --no-network and --no-external-models have no effect over Temporal, where workers run the tools and call the models; pass them to "baton worker"',
    )
  if (temporal && values['keep-days'] !== undefined)
    throw new UsageError('--keep-days has no effect over Temporal; use "baton sessions delete"')
  return {
    agent: values.agent,
    model: values.model,
    baseUrl: values['base-url'],
    mcp: values.mcp ?? [],
    permissions,
    host: values.host,
    port: readPort(values.port, variables),
    origins: values['allow-origin']?.map(readOrigin),
    json: values.json,
    exchanges: numberOfVariable(variables, 'MAX_TURNS', 10_000),
    store,
    temporal,
    keepDays:
      values['keep-days'] === undefined ? undefined : wholeNumber(values['keep-days'], '--keep-days', [1, 36_500]),
    server,
    acp: values.acp || values['acp-v2'],
    acpV2: values['acp-v2'],
    allow: readAllowed(values),
    operators: readOperators(values.console ?? [], values['console-powers'] ?? []),
    webhooks: readNamed('--webhook', values.webhook ?? []),
    dev: values.dev ? words.filter((word) => word !== '--dev') : undefined,
  }
}

interface AllowWords {
  readonly 'allow-model'?: readonly string[] | undefined
  readonly 'allow-temperature': boolean
  readonly 'allow-output-tokens'?: string | undefined
}

const OUTPUT_TOKENS_MAX = 10_000_000

function readAllowed(values: AllowWords): AllowedSettings {
  const models = values['allow-model'] ?? []
  const tokens = values['allow-output-tokens']
  return {
    models: models.includes('any') ? 'any' : models,
    temperature: values['allow-temperature'],
    ...(tokens !== undefined && {
      maxOutputTokens: wholeNumber(tokens, '--allow-output-tokens', [1, OUTPUT_TOKENS_MAX]),
    }),
  }
}

const PORT = 8080
const PORT_MAX = 65_535

/** @throws UsageError */
export function readPort(option: string | undefined, variables: Variables): number {
  const text = option ?? variables['PORT']?.trim() ?? ''
  if (text === '' && option === undefined) return PORT
  if (/^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX) return Number(text)
  const name = option === undefined ? 'the variable PORT' : '--port'
  throw new UsageError(`${name} must be a number from 0 to ${PORT_MAX}, not "${text}"`)
}
