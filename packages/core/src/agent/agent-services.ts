// Types of the services that an agent's tools expect from the host. Types only, no code.
import type { Agent } from './agent.ts'
import type { ToolContext } from './tool.ts'

/** The type that an agent's tools expect as `context.services`; `unknown` if they expect nothing. */
export type AgentServices<A extends Agent> = [ServicesTaker<A['tools'][number]>] extends [
  (services: infer Services) => void,
]
  ? Services
  : unknown

/** Required if a tool of the agent declares its services. */
export type NeededServices<A extends Agent> =
  unknown extends AgentServices<A> ? unknown : { readonly services: AgentServices<A> }

/** The services that several tools expect, intersected. */
type ServicesTaker<T> = T extends { execute(input: never, context: ToolContext<infer Services>): unknown }
  ? (services: Services) => void
  : never
