// The options of commands that work over a Temporal service.
import { BatonError } from '@baton/core'
import type * as Temporal from '@baton/temporal'
import type { StoreLocation } from './store-location.ts'
import { UsageError } from './usage-error.ts'
import type { Variables } from './words.ts'

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
  /** Address of the database that holds the records. */
  readonly postgres: string
}

export const TEMPORAL_HELP = `  --temporal HOST:PORT
                 the frontend of a Temporal service (BATON_TEMPORAL)
  --namespace NAME   (default)
  --task-queue NAME  of the workers (baton)
  --redis URL    redis://HOST:PORT, through which live text goes (BATON_REDIS; without it text comes by whole steps)
  --store URL    postgres://USER:PASSWORD@HOST/DATABASE, where the records of sessions are kept (BATON_STORE)`

/** Undefined without `--temporal`. @throws UsageError */
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
    throw new UsageError(
      '--temporal needs a store that all workers and servers share: --store postgres://HOST/DATABASE',
    )
  const redis = values.redis ?? (variables['BATON_REDIS']?.trim() || undefined)
  if (redis !== undefined && !/^rediss?:\/\/./.test(redis))
    throw new UsageError('--redis must be redis://HOST:PORT, or rediss:// over TLS')
  const { namespace = 'default', 'task-queue': taskQueue = 'baton' } = values
  return { address, namespace, taskQueue, redis, postgres: store.url }
}

/** @throws BatonError `invalid_option` where it is not installed */
export async function importTemporal(): Promise<typeof Temporal> {
  try {
    return await import('@baton/temporal')
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const message = 'the package @baton/temporal is not installed; add it by "npm install @baton/temporal"'
    throw new BatonError({ code: 'invalid_option', message, cause })
  }
}
