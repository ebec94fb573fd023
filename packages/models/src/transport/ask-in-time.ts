// Asks a function of the caller's for keys or tokens before a request is sent. One that never answers must not hold the turn.
import type { AbortSignalLike, BatonError } from '@baton/core'
import { isBatonError } from '@baton/core'
import { cancelledError } from './transport-errors.ts'

export interface AskInTime {
  readonly signal: AbortSignalLike
  /** 10 s by default: the metadata service of a machine answers at once or never. */
  readonly timeoutMs?: number
  /** The error for a function that failed, or gave nothing in time. */
  readonly refuse: (why: string, cause?: unknown) => BatonError
}

const TIMEOUT_MS = 10_000

/** @throws BatonError `cancelled`, what `refuse` makes, or what the function itself throws if it is one */
export async function askInTime<Value>(
  ask: () => Value | Promise<Value>,
  { signal, timeoutMs = TIMEOUT_MS, refuse }: AskInTime,
): Promise<Value> {
  if (signal.aborted) throw cancelledError(signal)
  let stop: () => void = () => undefined
  const stopped = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(cancelledError(signal))
    const timer = setTimeout(() => reject(refuse(`nothing came in ${timeoutMs} ms`)), timeoutMs)
    signal.addEventListener('abort', onAbort, { once: true })
    stop = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  })
  try {
    return await Promise.race([ask(), stopped])
  } catch (thrown) {
    if (isBatonError(thrown)) throw thrown
    throw refuse(thrown instanceof Error ? thrown.message : String(thrown), thrown)
  } finally {
    stop()
  }
}
