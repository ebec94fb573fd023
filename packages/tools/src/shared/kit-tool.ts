// Types of a kit's tools: names, arguments and results, which their call events share, and the services they need from
// a host. `execute` takes validated input of whichever tool of the kit it is.
import type { Execute, Tool } from '@baton/core/internal'

export type KitTool<T extends Tool, Services = unknown> = T extends Tool
  ? Tool<T['name'], NonNullable<T['types']>['input'], NonNullable<T['types']>['output']> & {
      readonly execute: Execute<unknown, unknown, Services>
    }
  : never
