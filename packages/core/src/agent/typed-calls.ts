// The calls of an agent's tools as the compiler knows them: in events they have the names, inputs and results of those tools.
import type { CallResult, CallView } from '../events/session-event.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { Agent } from './agent.ts'
import type { Tool } from './tool.ts'

/**
 * A call of one of the agent's own tools: ask for its `name`, and `input` and `result.value` have the types of that tool. Of an
 * agent whose tools are not known it is any call. The types are those of the tools: what a model wrote may not fit them, and
 * its call settles with `invalid_arguments`; tools of sources and of clients, and `result.read`, have names of their own.
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

/** As JSON has it. */
type InputOfCall<Input> = unknown extends Input ? JsonValue : Input extends JsonValue ? Input : Input & JsonObject

type ResultOfCall<Output> = unknown extends Output
  ? CallResult
  : | Exclude<CallResult, { readonly type: 'ok' }>
    | (Omit<Extract<CallResult, { readonly type: 'ok' }>, 'value'> & {
        readonly value?: AsJson<Output>
      })

/** A result as the call has it: without what is undefined, and any JSON where a value writes itself in its own way, such as a date. */
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
