// Cursor's cloud agents as tools: run by the server with a key, or by a client with its own access.
import type { Tool, ToolContext } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, tool } from '@baton/core/internal'
import * as z from 'zod'
import type { KitTool } from '@baton/tools/internal'
import type { ServiceOptions } from '../shared/service-client.ts'
import { SERVICE_ERRORS, ServiceClient } from '../shared/service-client.ts'
import { checkServiceKey } from '../shared/service-key.ts'
import type { Asking } from './cursor-api.ts'
import { CursorApi } from './cursor-api.ts'
import { CANCEL, CloudAgent, FOLLOWUP, LIST, SPAWN, STATUS } from './definitions.ts'

/** Options of the kit for Cursor's cloud agents: `{ apiKey }`. */
export interface CursorAgentOptions<Services = unknown> extends ServiceOptions {
  /** A key from Cursor's dashboard, or a function that returns the key of the call's principal. */
  readonly apiKey: string | ((context: ToolContext<Services>) => string | undefined | Promise<string | undefined>)
  /** Set to `false` to start, stop or instruct agents without asking the user. Defaults to `true`. */
  readonly approval?: boolean
  /**
   * `v1`, the default: the public beta, in which a start can be retried safely. `v0`: only the older API. A start with
   * `branchName`, which version 1 does not support, always uses version 0.
   */
  readonly version?: 'v0' | 'v1'
  /** Defaults to `https://api.cursor.com`. */
  readonly server?: string
}

const WHAT = 'cursorAgentTools'
const FIELDS = new Set(['apiKey', 'approval', 'version', 'server', 'timeoutMs', 'maxBytes', 'fetch', 'clock'])
const ERRORS = [...SERVICE_ERRORS, 'invalid_arguments', 'invalid_option'] as const
/** Maximum requests per call: a start retries after a lost response, and reads agent and run. */
const REQUESTS = 4

/**
 * `agent.spawn`, `agent.status`, `agent.cancel`, `agent.followup` and `agent.list`, run by the host.
 * @throws BatonError `invalid_option`
 */
export function cursorAgentTools<Services = unknown>(
  options: CursorAgentOptions<Services>,
): readonly KitTool<Tool, Services>[] {
  checkFields(options, { what: WHAT, code: 'invalid_option', fields: FIELDS })
  checkKinds(options, {
    what: WHAT,
    code: 'invalid_option',
    kinds: { approval: 'true or false', version: ['v0', 'v1'], fetch: 'a function' },
  })
  const { apiKey, approval = true, version = 'v1', server = 'https://api.cursor.com', ...rest } = options
  checkServiceKey(apiKey, `${WHAT}: apiKey`, 'key')
  const service = new ServiceClient({ ...rest, name: 'Cursor', server, option: `${WHAT}: server`, showsWords: false })
  const api = new CursorApi(service, version)
  const start = async (context: ToolContext): Promise<Asking> => ({
    key: await readKey(apiKey, context as ToolContext<Services>), // as declared by the program that created the tools
    signal: context.signal,
    idempotencyKey: context.idempotencyKey,
  })
  const common = {
    trust: 'untrusted', // an agent's summary quotes text it has read
    network: true,
    timeoutMs: service.timeoutMs * REQUESTS + 2_000,
    errors: ERRORS,
  } as const
  return [
    tool({
      ...SPAWN,
      ...common,
      approval,
      describe: (input) => ({ title: `Start an agent on ${placeOf(input)}`, destination: placeOf(input) }),
      output: CloudAgent,
      execute: async (input, context) => await api.spawn(input, await start(context)),
    }),
    tool({
      ...STATUS,
      ...common,
      describe: ({ id }) => ({ title: `Check agent ${id}` }),
      output: CloudAgent,
      execute: async ({ id }, context) => await api.status(id, await start(context)),
    }),
    tool({
      ...CANCEL,
      ...common,
      approval,
      describe: ({ id }) => ({ title: `Stop agent ${id}`, destination: id }),
      output: CloudAgent,
      execute: async ({ id }, context) => await api.cancel(id, await start(context)),
    }),
    tool({
      ...FOLLOWUP,
      ...common,
      approval,
      describe: ({ id }) => ({ title: `Instruct agent ${id}`, destination: id }),
      output: CloudAgent,
      execute: async ({ id, prompt }, context) => await api.followup(id, prompt, await start(context)),
    }),
    tool({
      ...LIST,
      ...common,
      describe: () => ({ title: 'List agents' }),
      output: z.object({ agents: z.array(CloudAgent), nextCursor: z.string().optional() }),
      execute: async (input, context) => await api.list(input, await start(context)),
    }),
  ]
}

/**
 * The same five tools without `execute`: a connected client runs them and may return any text. The user is not asked
 * unless `approval` is true, since the client can ask its user itself.
 */
export function cursorAgentClientTools({ approval = false }: { readonly approval?: boolean } = {}): readonly Tool[] {
  return [
    tool({ ...SPAWN, approval, trust: 'untrusted' }),
    tool({ ...STATUS, trust: 'untrusted' }),
    tool({ ...CANCEL, approval, trust: 'untrusted' }),
    tool({ ...FOLLOWUP, approval, trust: 'untrusted' }),
    tool({ ...LIST, trust: 'untrusted' }),
  ]
}

function placeOf({
  repository,
  prUrl,
}: {
  readonly repository?: string | undefined
  readonly prUrl?: string | undefined
}) {
  return repository ?? prUrl ?? ''
}

async function readKey<Services>(
  apiKey: CursorAgentOptions<Services>['apiKey'],
  context: ToolContext<Services>,
): Promise<string> {
  const key = typeof apiKey === 'function' ? await apiKey(context) : apiKey
  if (typeof key === 'string' && key !== '') return key
  throw new BatonError({
    code: 'api_unauthorized',
    message: `there is no Cursor key for ${context.principal.id}: add a key from Cursor's dashboard first`,
  })
}
