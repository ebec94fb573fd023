// Handlers with which a program runs an agent's client tools, typed by those tools.
import type { JsonValue } from '../json.ts'
import type { OpenCall } from '../machine/history.ts'
import type { Outcome } from '../machine/input.ts'
import type { Accepted } from '../machine/refusal.ts'
import type { Agent } from './agent.ts'
import type { Tool, ToolResult } from './tool.ts'

/** Gets the validated input and returns the result: a value, or content for the model. */
export type ClientHandler<Input, Output> = {
  // A method, so that handlers of a specific agent are assignable to handlers of any agent.
  handle(input: Input, call: OpenCall): ToolResult<Output>
}['handle']

export type ClientHandlers = Readonly<Record<string, ClientHandler<JsonValue, unknown>>>

/**
 * Handlers of an agent's client tools, by name and with their types. If the tools are unknown, as with the type
 * `Agent`, any handlers are accepted; an agent without client tools accepts none.
 */
export type HandlersOf<A extends Agent> = [ClientRun<A['tools'][number]>] extends [never]
  ? { readonly [name: string]: never }
  : { readonly [T in ClientRun<A['tools'][number]> as T['name']]?: HandlerOf<T['types']> }

type ClientRun<T extends Tool> = T extends { readonly execute: (...given: never) => unknown } ? never : T

type HandlerOf<Types> =
  NonNullable<Types> extends { readonly input: infer Input; readonly output: infer Output }
    ? ClientHandler<unknown extends Input ? JsonValue : Input, Output>
    : never

export interface Client {
  readonly connection: string
  /** Settles a call that has no handler. */
  toolResult(callId: string, outcome: Outcome): Promise<Accepted>
  detach(): Promise<void>
}
