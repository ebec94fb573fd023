// The calls of an agent's tools as the compiler sees them: events have the names, inputs and results of those tools.
import type { CallResult, CallView } from '../events/session-event.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { Agent } from './agent.ts'
import type { Tool } from './tool.ts'

/**
 * A call of one of the agent's own tools: narrowing by `name` gives `input` and `result.value` the types of that tool.
 * For an agent with unknown tools it is any call. The types describe the tools: a model's arguments may not fit them,
 * and the call then settles with `invalid_arguments`. Tools of sources and clients, and `result.read`, have other
 * names.
 */
export type AgentCall<A extends Agent> = [A['tools'][number]] extends [never] ? CallView : CallOf<A['tools'][number]>

type CallOf<T extends Tool> = T extends Tool
  ? string extends T['name']
    ? CallView
    : Omit<CallView, 'name' | 'input' | 'result'> & {
        readonly name: T['name']
        readonly input: InputOfCall<NonNullable<T['types']>['input']>
        readonly result?: ResultOfCall<NonNullable<T['types']>['output']>
      }
  : never

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
