// Calls the user's function for keys or tokens before a request is sent. A function that never settles must not block
// the turn.
import type { AbortSignalLike, BatonError } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import { cancelledError } from './transport-errors.ts'

export interface AskInTime {
  readonly signal: AbortSignalLike
  /** 10 s by default: a machine's metadata service answers immediately or never. */
  readonly timeoutMs?: number
  /** Creates the error for a function that failed or timed out. */
  readonly refuse: (why: string, cause?: unknown) => BatonError
}

const TIMEOUT_MS = 10_000

/** @throws BatonError `cancelled`, the error of `refuse`, or a BatonError thrown by the function itself */
export async function askInTime<Value>(
  ask: () => Value | Promise<Value>,
  { signal, timeoutMs = TIMEOUT_MS, refuse }: AskInTime,
): Promise<Value> {
  if (signal.aborted) throw cancelledError(signal)
  let stop: () => void = () => undefined
  const stopped = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(cancelledError(signal))
    const timer = setTimeout(() => reject(refuse(`no value arrived within ${timeoutMs} ms`)), timeoutMs)
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
