// An agent as the compiler sees it: its answers have the type of its output, and events have the names, inputs and
// results of its tools. It knows neither what an agent does nor how a tool runs.
import type { CallResult, CallView } from '../events/session-event.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { Limits } from '../machine/spec.ts'
import type { Model } from './model.ts'
import type { Schema } from './schema.ts'

/** A tool as the types of a session know it: nothing that runs. */
export interface KnownTool {
  readonly name: string
  readonly inputSchema: JsonObject
  readonly types?: { readonly input: unknown; readonly output: unknown }
}

/** An agent as the types of a session know it. Each `Agent` is one; the host knows the rest. */
export interface KnownAgent<Output = unknown> {
  readonly name: string
  readonly models: readonly (string | Model)[]
  readonly tools: readonly KnownTool[]
  readonly limits: Limits
  readonly output?: Schema<Output>
  readonly types?: { readonly output: Output }
}

/** The type of `answer.output`; undefined for an agent without an output schema. */
export type AgentOutput<A extends KnownAgent> = NonNullable<A['types']>['output']

/**
 * A call of one of the agent's own tools: narrowing by `name` gives `input` and `result.value` the types of that tool.
 * For an agent with unknown tools it is any call. The types describe the tools: a model's arguments may not fit them,
 * and the call then settles with `invalid_arguments`. Tools of sources and clients, and `result.read`, have other
 * names.
 */
export type AgentCall<A extends KnownAgent> = [A['tools'][number]] extends [never]
  ? CallView
  : CallOf<A['tools'][number]>

type CallOf<T extends KnownTool> = T extends KnownTool
  ? string extends T['name']
    ? CallView
    : ToolCall<T['name'], NonNullable<T['types']>['input'], NonNullable<T['types']>['output']>
  : never

/** A call of one tool: `call.name === 'pay'` narrows to it. An interface, so that editors show its name and not all of it. */
export interface ToolCall<Name extends string, Input, Output> extends Omit<CallView, 'name' | 'input' | 'result'> {
  readonly name: Name
  readonly input: InputOfCall<Input>
  readonly result?: ResultOfCall<Output>
}

/** Input as JSON. */
type InputOfCall<Input> = unknown extends Input ? JsonValue : Input extends JsonValue ? Input : Input & JsonObject

type ResultOfCall<Output> = unknown extends Output
  ? CallResult
  : | Exclude<CallResult, { readonly type: 'ok' }>
    | (Omit<Extract<CallResult, { readonly type: 'ok' }>, 'value'> & {
        readonly value?: AsJson<Output>
      })

/**
 * A result in the call's form: without undefined fields, and any JSON for a value that serialises itself, such as a
 * date.
 */
type AsJson<T> = T extends JsonValue
  ? T
  : T extends undefined
    ? never
    : T extends { readonly toJSON: unknown }
      ? JsonValue
      : T extends readonly (infer One)[]
        ? readonly AsJson<One>[]
        : T extends object
          ? { readonly [Name in keyof T]: AsJson<Exclude<T[Name], undefined>> }
          : JsonValue
