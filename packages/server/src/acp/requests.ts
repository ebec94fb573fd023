// Requests in both directions. Concurrent requests from a client are counted, and any beyond the limit are refused.
import { BatonError } from '@baton/core'
import { toRequestError } from './acp-errors.ts'
import type { ConnectionOptions, AcpAuth } from './options.ts'

export class Requests {
  readonly #init: ConnectionOptions
  readonly #most: number
  #running = 0

  constructor(init: ConnectionOptions) {
    this.#init = init
    this.#most = init.parts.limits.requests
  }

  /** Creates a handler for the SDK. It throws RequestError, with `rate_limited` for a request beyond the limit. */
  answer<Context, Value>(act: (context: Context) => Promise<Value>): (context: Context) => Promise<Value> {
    return async (context) => {
      try {
        return await this.#run(() => act(context))
      } catch (cause) {
        throw toRequestError(cause, this.#init)
      }
    }
  }

  async #run<Value>(act: () => Promise<Value>): Promise<Value> {
    if (this.#running >= this.#most)
      throw new BatonError({
        code: 'rate_limited',
        message: `${this.#most} requests of this connection are already waiting`,
        retryable: true,
      })
    this.#running += 1
    try {
      return await act()
    } finally {
      this.#running -= 1
    }
  }
}

/** The reason recorded for a turn that the client cancelled. */
export const CANCELLED = 'the user cancelled it in the editor'

/** Aborts when the client cancels its request; not when it disconnects, because its turn then continues. */
export function untilCancelled(request: AbortSignal, gone: AbortSignal): AbortSignal {
  const cancelled = new AbortController()
  const cancel = (): void => {
    if (!gone.aborted) cancelled.abort()
  }
  request.addEventListener('abort', cancel, { once: true })
  if (request.aborted) cancel()
  return cancelled.signal
}

export function toRecord(pairs: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]))
}

/** The response to a request without a result. */
export async function empty(done: Promise<void>): Promise<Record<string, never>> {
  await done
  return {}
}

/**
 * Checks whether a login that happens elsewhere has succeeded. @throws BatonError `invalid_option`,
 * `model_not_configured`
 */
export async function checkLogin(auth: AcpAuth | undefined, method: string): Promise<void> {
  if (!auth || method !== 'keys')
    throw new BatonError({
      code: 'invalid_option',
      message: `there is no authentication method ${JSON.stringify(method.slice(0, 100))} for this request`,
    })
  const missing = await auth.missing()
  if (missing !== undefined) throw new BatonError({ code: 'model_not_configured', message: missing })
}

/** The ways to log in; `terminal` for a client that has terminals. */
export function describeLogins({ name, description, terminalArgs }: AcpAuth, hasTerminals: boolean) {
  const about = description === undefined ? {} : { description }
  const terminal = {
    type: 'terminal' as const,
    name: `${name} in a terminal`,
    ...about,
    args: [...(terminalArgs ?? [])],
  }
  return { keys: { name, ...about }, terminals: hasTerminals && terminalArgs ? [terminal] : [] }
}
