// Decides which inputs a handle may submit: commands of its own principal, and reports of the clients attached through
// it. Host reports are refused.
import type { Decoded, JsonObject, Principal, Refusal, Refused } from '@baton/core/internal'
import { BatonError, decodeClientReport, decodeUserCommand, isBatonError } from '@baton/core/internal'
import type { ClientReport, InputType, UserCommand } from '@baton/core/machine'
import { CLIENT_REPORTS, findCall } from '@baton/core/machine'
import { describeThrown } from '../describe-thrown.ts'
import type { SessionEngine } from '../engine.ts'
import { findSchemaRefusal } from '../work/output.ts'

export class SpokenInputs {
  readonly #principal: Principal
  readonly #engine: Pick<SessionEngine, 'state'>
  /** Connections of clients attached through this handle; created with the first one. */
  #connections: Set<string> | undefined

  constructor(principal: Principal, engine: Pick<SessionEngine, 'state'>) {
    this.#principal = principal
    this.#engine = engine
  }

  decode(input: unknown): Decoded<UserCommand | ClientReport> {
    return isReport(input) ? this.#decodeReport(input) : this.#decodeCommand(input)
  }

  #decodeCommand(input: unknown): Decoded<UserCommand> {
    const decoded = decodeUserCommand(input)
    if (!decoded.ok || !('principal' in decoded.value)) return decoded
    return this.#refuseStranger(decoded.value.principal) ?? decoded
  }

  #decodeReport(input: unknown): Decoded<ClientReport> {
    const decoded = decodeClientReport(input)
    if (!decoded.ok) return decoded
    const report = decoded.value
    if (report.type === 'client-attached') {
      const refused = this.#refuseStranger(report.principal)
      if (refused) return refused
      const isTaken = this.#engine.state().clients.some(({ connection }) => connection === report.connection)
      if (isTaken && !this.#connections?.has(report.connection)) return refuseClient(report.connection)
      this.#connections = (this.#connections ?? new Set<string>()).add(report.connection)
      return decoded
    }
    const connection = 'connection' in report ? report.connection : this.#findHolder(report)
    if (connection === undefined || this.#connections?.has(connection)) return decoded
    return refuseClient(connection)
  }

  /** The client that holds the call, for a report that does not name its connection. */
  #findHolder(report: ClientReport): string | undefined {
    return 'callId' in report ? findCall(this.#engine.state(), report.callId)?.offer?.connection : undefined
  }

  #refuseStranger(principal: string): { readonly ok: false; readonly refusal: Refusal } | undefined {
    if (principal === this.#principal.id) return undefined
    const message = `this handle speaks for "${this.#principal.id}", not for "${principal}"`
    return refuse({ code: 'unauthorized', message })
  }
}

function refuseClient(connection: string): { readonly ok: false; readonly refusal: Refusal } {
  return refuse({ code: 'unauthorized', message: `the client "${connection}" was not attached through this handle` })
}

function refuse(refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal }
}

/** Reads only an own data property: getters and proxy traps are not called here, and the decoder refuses them. */
function isReport(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false
  try {
    const type: unknown = Object.getOwnPropertyDescriptor(input, 'type')?.value
    return CLIENT_REPORTS.has(type as InputType) // any other value is in no set
  } catch {
    return false
  }
}

/**
 * Catches bad options early. An unknown model would only fail when called, and another model would answer; an unusable
 * schema would only fail at the answer.
 */
export function findRefusal(
  { world }: SessionEngine,
  { model, output }: { readonly model?: string | undefined; readonly output?: JsonObject | undefined },
): Refused | undefined {
  const refused = output && findSchemaRefusal(output)
  if (refused) return refused
  if (model === undefined) return undefined
  try {
    world.modelOf(model)
    return undefined
  } catch (cause) {
    const why = isBatonError(cause) ? cause : new BatonError({ code: 'unknown_model', message: describeThrown(cause) })
    const known = world.models.includes(model) ? '' : `; the models of this agent are ${world.models.join(', ')}`
    return { type: 'refused', code: why.code, message: `${why.message}${known}` }
  }
}

/** @throws BatonError naming the field */
export function demand<T>(given: Decoded<T>): T {
  if (given.ok) return given.value
  throw new BatonError(given.refusal)
}
