// The tools of a kit as the compiler knows them: names, arguments and results, which the events of their calls have, and the services that
// they need of a host. `execute` takes what the tool's schema has validated, whichever tool of the kit it is.
import type { Execute, Tool } from '@baton/core'

export type KitTool<T extends Tool, Services = unknown> = T extends Tool
  ? Tool<T['name'], NonNullable<T['types']>['input'], NonNullable<T['types']>['output']> & {
      readonly execute: Execute<unknown, unknown, Services>
    }
  : never
