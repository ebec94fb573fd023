// The clients that one handle made of its program, and reports of clients that a front carries.
import type { Accepted, Client, ClientHandlers, Principal, Refused } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { ClientReport } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { submitAlone } from '../engine.ts'
import { attachProgramClient } from './program-client.ts'
import { checkClientTools } from './session-client.ts'
import { bringsBytes, checkResult, submitMedia } from './submit-media.ts'

export interface SessionClientsOptions {
  readonly engine: SessionEngine
  readonly principal: Principal
  readonly newId: () => string
}

export class SessionClients {
  readonly #init: SessionClientsOptions
  /** Attached clients; created with the first one. */
  #clients: Map<string, Client> | undefined
  #closed = false
  /** Never rejects. Set while a result is validated by an asynchronous schema, or its media are stored. */
  #checking: Promise<void> | undefined

  constructor(init: SessionClientsOptions) {
    this.#init = init
  }

  /**
   * @throws BatonError `session_closed` after `detachAll`, `rate_limited`, `invalid_event` for a handler that is not a function,
   * `invalid_option` for a handler of a tool that no client runs
   */
  async attach(handlers?: ClientHandlers): Promise<Client> {
    if (handlers === undefined) return await this.#attachFor({})
    checkHandlers(handlers)
    const tools = Object.keys(handlers)
    checkClientTools(this.#init.engine.world, tools)
    return await this.#attachFor(handlers, tools)
  }

  /** Keeps reports in order, even behind a result that is still being validated or stored. */
  report(report: ClientReport): Promise<Accepted | Refused> {
    const { engine } = this.#init
    const before = this.#checking
    const checked = report.type === 'tool-result' ? checkResult(engine, report) : report
    const submit = (ready: ClientReport): Promise<Accepted | Refused> =>
      bringsBytes(ready) ? submitMedia(engine, ready) : submitAlone(engine, ready)
    if (!before && !('then' in checked) && !bringsBytes(checked)) return submit(checked)
    const answer = Promise.all([checked, before]).then(([ready]) => submit(ready))
    const done = answer.then(ignore, ignore).then(() => {
      if (this.#checking === done) this.#checking = undefined
    })
    this.#checking = done
    return answer
  }

  /** Detaches all clients permanently. */
  async detachAll(): Promise<void> {
    this.#closed = true
    for (const client of this.#clients?.values() ?? []) await client.detach()
  }

  async #attachFor(handlers: ClientHandlers, tools?: readonly string[]): Promise<Client> {
    const { engine, principal, newId } = this.#init
    if (this.#closed) throw createClosedError()
    const connection = `program-${newId()}`
    const onDetach = (): void => void this.#clients?.delete(connection)
    const client = await attachProgramClient({
      engine,
      principal,
      handlers,
      connection,
      onDetach,
      ...(tools && { tools }),
    })
    if (this.#closed) {
      await client.detach() // attached after `detachAll`, which no longer sees it
      throw createClosedError()
    }
    this.#clients = (this.#clients ?? new Map<string, Client>()).set(connection, client)
    return client
  }
}

function ignore(): void {}

/** @throws BatonError `invalid_event` */
function checkHandlers(handlers: unknown): void {
  const isObject = typeof handlers === 'object' && handlers !== null
  const wrong = isObject ? Object.entries(handlers).find(([, handler]) => typeof handler !== 'function') : undefined
  if (isObject && !wrong) return
  const message = wrong
    ? `the handler of "${wrong[0].slice(0, 100)}" must be a function, not ${typeof wrong[1]}`
    : `handlers must be an object of functions by tool name, not ${typeof handlers}`
  const hint = "Write attach({ 'app.place': () => ({ city: 'Oslo' }) }), with the names of your client tools."
  throw new BatonError({ code: 'invalid_event', message, hint })
}

export function createClosedError(): BatonError {
  return new BatonError({ code: 'session_closed', message: 'this session was closed here' })
}
