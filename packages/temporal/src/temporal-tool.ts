// Tools that are an activity or a workflow of somebody's own, in any language: named by type and task queue.
import type { Schema, Tool, ToolInit } from '@baton/core'
import { BatonError, tool } from '@baton/core'

/** The work that the workflow starts in place of `execute`. */
export interface ForeignWork {
  readonly runs: 'activity' | 'workflow'
  /** The type's name. */
  readonly type: string
  /** Task queue of its workers; the session's own by default. */
  readonly taskQueue?: string
  /** Tries by Temporal's retry policy, for a tool whose effect is not `once`. 1 by default. */
  readonly attempts?: number
  /** Milliseconds without a heartbeat after which an activity counts as dead; absent: it does not heartbeat. */
  readonly heartbeatMs?: number
}

const FOREIGN = Symbol.for('@baton/temporal/foreign')

export type TemporalToolInit<Name extends string, Input extends Schema> = ToolInit<Name, Input, Schema> & ForeignWork

/**
 * A tool that an activity or a child workflow performs. It is called with the tool's input and
 * `{ session, callId, attempt, idempotencyKey }`, and gives any JSON. On another host than Temporal its calls fail with
 * `tool_gone`.
 * @throws BatonError `invalid_tool`, `invalid_schema`
 */
export function temporalTool<const Name extends string, Input extends Schema>(
  init: TemporalToolInit<Name, Input>,
): Tool {
  const { runs, type, taskQueue, attempts, heartbeatMs, ...rest } = init
  const execute = (): never => {
    const message = `"${init.name}" is the ${runs} "${type}" of a Temporal service, and this host is none`
    throw new BatonError({ code: 'tool_gone', message })
  }
  const made: Tool = tool({ ...rest, execute })
  const work: ForeignWork = {
    runs,
    type,
    ...(taskQueue !== undefined && { taskQueue }),
    ...(attempts !== undefined && { attempts }),
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  }
  return Object.assign(Object.create(Object.getPrototypeOf(made) as object) as object, made, {
    [FOREIGN]: work,
  }) as Tool
}

/** Undefined for a tool that has an `execute` of its own. */
export function findForeignWork(of: Tool): ForeignWork | undefined {
  return (of as { readonly [FOREIGN]?: ForeignWork })[FOREIGN]
}
