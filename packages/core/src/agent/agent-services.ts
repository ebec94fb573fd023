// What the tools of an agent expect of a host, for the compiler: nothing of it runs.
import type { Agent } from './agent.ts'
import type { ToolContext } from './tool.ts'

/** What the tools of an agent expect as `context.services`; unknown where they expect nothing. */
export type AgentServices<A extends Agent> = [ServicesTaker<A['tools'][number]>] extends [
  (services: infer Services) => void,
]
  ? Services
  : unknown

/** Required where a tool of the agent says what it needs. */
export type NeededServices<A extends Agent> =
  unknown extends AgentServices<A> ? unknown : { readonly services: AgentServices<A> }

/** Of several tools the services that each of them expects, together. */
type ServicesTaker<T> = T extends { execute(input: never, context: ToolContext<infer Services>): unknown }
  ? (services: Services) => void
  : never
