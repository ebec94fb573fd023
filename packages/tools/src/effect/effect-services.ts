// The services of a set of tools: built once, on the first call, and released by `close`. Runs Effects with them, and
// interrupts an Effect when its call ends.
import type { ToolContext } from '@baton/core'
import { BatonError } from '@baton/core'
import type { EffectModule, Exit, ManagedRuntime, Opaque } from './library.ts'
import { describeEnding, describeFailure } from './failure.ts'

/** Maximum characters of a cause in the log. */
const CAUSE_CHARS = 4000

export interface EffectServicesOptions {
  /** A runtime owned by the program, which `close` does not touch. */
  readonly runtime?: ManagedRuntime
  /** If both this and `runtime` are absent, there are no services. */
  readonly layer?: Opaque
  /** Milliseconds that `close` waits for running Effects, and then for the services. */
  readonly closeMs: number
}

interface Running {
  readonly interrupt: () => void
  readonly ending: Promise<unknown>
}

export class EffectServices {
  readonly #module: EffectModule
  readonly #init: EffectServicesOptions
  readonly #running = new Set<Running>()
  #runtime: ManagedRuntime | undefined
  #building: Promise<ManagedRuntime> | undefined
  #closing: Promise<void> | undefined

  constructor(module: EffectModule, init: EffectServicesOptions) {
    this.#module = module
    this.#init = init
  }

  /**
   * Returns the Effect's success value. Settles as soon as the call ends, although an uninterruptible Effect continues.
   * @throws BatonError `tool_failed`, `cancelled` (the call has ended), `tool_gone` (closed), or the Effect's own
   */
  async run(program: Opaque, context: Pick<ToolContext, 'signal' | 'log' | 'callId'>): Promise<unknown> {
    if (this.#closing) throw new BatonError({ code: 'tool_gone', message: 'the services of this tool were closed' })
    const { signal } = context
    const stop = new AbortController()
    const interrupt = (): void => stop.abort()
    if (signal.aborted) interrupt()
    signal.addEventListener('abort', interrupt, { once: true })
    const ending = this.#perform(program, stop.signal)
    const running = { interrupt, ending }
    this.#running.add(running)
    const forget = (): void => {
      this.#running.delete(running)
      signal.removeEventListener('abort', interrupt)
    }
    void ending.then(forget, forget)
    const exit = await Promise.race([ending, whenAborted(stop.signal)])
    if (exit._tag === 'Success') return exit.value
    const { error, isDefect } = describeEnding(exit.cause)
    if (isDefect)
      context.log.warn('an Effect of a tool died', { callId: context.callId, cause: this.#print(exit.cause) })
    throw error
  }

  /**
   * Interrupts running Effects and releases the services. Idempotent.
   * @throws BatonError `cancelled` if that takes longer than `closeMs`
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#end())
  }

  async #perform(program: Opaque, signal: AbortSignal): Promise<Exit> {
    const runtime = await (this.#building ??= this.#build())
    signal.throwIfAborted()
    return runtime.runPromiseExit(program, { signal })
  }

  /** Builds the services once; after a failure, the next call tries again. */
  async #build(): Promise<ManagedRuntime> {
    const { library } = this.#module
    const runtime = this.#init.runtime ?? library.ManagedRuntime.make(this.#init.layer ?? library.Layer.empty)
    const exit = await runtime.runPromiseExit(library.Effect.void)
    if (exit._tag === 'Success') return (this.#runtime = runtime)
    this.#building = undefined
    const { error } = describeEnding(exit.cause)
    if (!this.#init.runtime) await runtime.dispose()
    throw new BatonError({
      code: 'tool_failed',
      message: `the services of the tool could not be built: ${describeFailure(error.cause ?? error)}`,
      cause: error,
    })
  }

  async #end(): Promise<void> {
    const timer = createTimer(this.#init.closeMs)
    try {
      for (const { interrupt } of this.#running) interrupt()
      await Promise.race([timer.over, this.#giveBack()])
    } finally {
      timer.stop()
    }
  }

  async #giveBack(): Promise<void> {
    await Promise.allSettled([this.#building, ...[...this.#running].map(({ ending }) => ending)])
    if (!this.#init.runtime) await this.#runtime?.dispose()
  }

  #print(cause: Opaque): string {
    return this.#module.library.Cause.pretty(cause).slice(0, CAUSE_CHARS)
  }
}

/** Never resolves. */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(new BatonError({ code: 'cancelled', message: 'the call has ended' }))
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

function createTimer(ms: number): { readonly over: Promise<never>; readonly stop: () => void } {
  let stop = (): void => {}
  const over = new Promise<never>((_resolve, reject) => {
    const message = `the services of Effect tools were not released within ${ms} ms`
    const hint = 'Look for an Effect or a finalizer that never ends, or raise closeMs.'
    const timer = setTimeout(() => reject(new BatonError({ code: 'cancelled', message, hint })), ms)
    stop = () => clearTimeout(timer)
  })
  return { over, stop }
}
