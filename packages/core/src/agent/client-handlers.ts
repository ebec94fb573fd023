// Handlers with which a program runs an agent's client tools, typed by those tools.
import type { JsonValue } from '../json.ts'
import type { IgnoreReason } from '../machine/fact.ts'
import type { OpenCall } from '../machine/render.ts'
import type { Accepted, Outcome } from '../machine/input.ts'
import type { ToolResult } from './result-type.ts'
import type { KnownAgent, KnownTool } from './typed-calls.ts'

/** Gets the validated input and returns the result: a value, or content for the model. */
export type ClientHandler<Input, Output> = {
  // A method, so that handlers of a specific agent are assignable to handlers of any agent.
  handle(input: Input, call: OpenCall): ToolResult<Output>
}['handle']

/**
 * Handlers of client tools by tool name, without their types: `{ 'place.find': (input) => findPlace(input) }`. A
 * handler returns the result, as JSON or content parts; what it throws is the error that the model reads.
 */
export type ClientHandlers = Readonly<Record<string, ClientHandler<JsonValue, unknown>>>

/**
 * Handlers of an agent's client tools, by name and with their types. If the tools are unknown, as with the type
 * `Agent`, any handlers are accepted; an agent without client tools accepts none.
 */
export type HandlersOf<A extends KnownAgent> = [ClientRun<A['tools'][number]>] extends [never]
  ? { readonly [name: string]: never }
  : { readonly [T in ClientRun<A['tools'][number]> as T['name']]?: HandlerOf<T['types']> }

type ClientRun<T extends KnownTool> = T extends { readonly execute: (...given: never) => unknown } ? never : T

type HandlerOf<Types> =
  NonNullable<Types> extends { readonly input: infer Input; readonly output: infer Output }
    ? ClientHandler<unknown extends Input ? JsonValue : Input, Output>
    : never

/** A client of a session: it runs calls of client tools and returns their results. */
export interface Client {
  /** Its name in `call.holder` of events. */
  readonly connection: string
  /** Calls that were offered to it and that it has not claimed. */
  calls(): readonly OpenCall[]
  /**
   * Claims a call before the client acts on it. Returns what it needs to run it.
   * @throws BatonError `call_over`, `call_not_offered` (another client was asked)
   */
  claim(callId: string): Promise<ClaimedCall>
  /** Returns the result of a call; `ignored` if it changes nothing. @throws BatonError `invalid_event`, `store_failed` */
  result(callId: string, outcome: Outcome): Promise<TakenResult>
  /** Leaves the session; calls that it has not claimed may move to another client. */
  detach(): Promise<void>
}

export interface ClaimedCall extends OpenCall {
  /** The client had claimed the call before: if it has started it, it must not start it again. */
  readonly again?: true
}

export interface TakenResult extends Accepted {
  /**
   * Why the result changes nothing. `unknown`: the session has no such call, or had it long ago; `foreign`: another
   * client was asked; `late`, `duplicate`: the call was already settled.
   */
  readonly ignored?: IgnoreReason
}
