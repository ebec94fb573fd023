// The options of commands that use a Temporal service.
import { importPeer } from '@baton/core/internal'
import type * as Temporal from '@baton/temporal'
import type { StoreLocation } from '../places/store-location.ts'
import { UsageError } from '../words/usage-error.ts'
import type { Variables } from '../words/words.ts'

/** For `parseArgs`. */
export const TEMPORAL_WORDS = {
  temporal: { type: 'string' },
  namespace: { type: 'string' },
  'task-queue': { type: 'string' },
  redis: { type: 'string' },
} as const

export interface TemporalValues {
  readonly temporal?: string | undefined
  readonly namespace?: string | undefined
  readonly 'task-queue'?: string | undefined
  readonly redis?: string | undefined
}

export interface TemporalPlace {
  readonly address: string
  readonly namespace: string
  readonly taskQueue: string
  readonly redis: string | undefined
  /** Address of the database with the records. */
  readonly postgres: string
}

export const TEMPORAL_HELP = `  --temporal HOST:PORT
                 address of the Temporal service's frontend (default: BATON_TEMPORAL)
  --namespace NAME   Temporal namespace (default: default)
  --task-queue NAME  task queue of the workers (default: baton)
  --redis URL    redis://HOST:PORT, to stream live text (default: BATON_REDIS; without it, text arrives step by step)
  --store URL    postgres://USER:PASSWORD@HOST/DATABASE, where session records are kept (default: BATON_STORE)`

/** Returns `undefined` without `--temporal`. @throws UsageError */
export function readTemporalPlace(
  values: TemporalValues,
  store: StoreLocation,
  variables: Variables,
): TemporalPlace | undefined {
  const address = values.temporal ?? (variables['BATON_TEMPORAL']?.trim() || undefined)
  if (address === undefined) {
    const alone = (['namespace', 'task-queue', 'redis'] as const).find((name) => values[name] !== undefined)
    if (alone !== undefined) throw new UsageError(`--${alone} needs --temporal HOST:PORT`)
    return undefined
  }
  if (!/^[^\s:/]+:\d{1,5}$/.test(address))
    throw new UsageError(`--temporal must be HOST:PORT, such as localhost:7233, not "${address}"`)
  if (store.type !== 'postgres')
    throw new UsageError('--temporal needs a store shared by all workers and servers: --store postgres://HOST/DATABASE')
  const redis = values.redis ?? (variables['BATON_REDIS']?.trim() || undefined)
  if (redis !== undefined && !/^rediss?:\/\/./.test(redis))
    throw new UsageError('--redis must be redis://HOST:PORT, or rediss:// over TLS')
  const { namespace = 'default', 'task-queue': taskQueue = 'baton' } = values
  return { address, namespace, taskQueue, redis, postgres: store.url }
}

/** @throws BatonError `invalid_option` if it is not installed */
export async function importTemporal(): Promise<typeof Temporal> {
  return await importPeer('@baton/temporal', '--temporal', () => import('@baton/temporal'))
}
