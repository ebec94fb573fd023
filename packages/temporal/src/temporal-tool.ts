// Tools that are custom activities or workflows, in any language: named by type and task queue.
import type { Schema, Tool, ToolBase } from '@baton/core/internal'
import { BatonError, tool } from '@baton/core/internal'

/** Work that the workflow starts instead of calling `execute`. */
export interface ForeignWork {
  readonly runs: 'activity' | 'workflow'
  /** The type's name. */
  readonly type: string
  /** Task queue of its workers. Default: the session's own. */
  readonly taskQueue?: string
  /** Attempts under Temporal's retry policy, for a tool whose effect is not `once`. Default: 1. */
  readonly attempts?: number
  /**
   * Milliseconds without a heartbeat until an activity counts as dead. Without it, the activity need not
   * heartbeat.
   */
  readonly heartbeatMs?: number
}

const FOREIGN = Symbol.for('@baton/temporal/foreign')

export type TemporalToolOptions<Name extends string, Input extends Schema> = ToolBase<Name, Input, Schema> & ForeignWork

/**
 * Creates a tool performed by an activity or a child workflow. It is called with the tool's input and `{ session,
 * callId, attempt, idempotencyKey }`, and returns any JSON. On other hosts than Temporal its calls fail with
 * `tool_gone`.
 * @throws BatonError `invalid_tool`, `invalid_schema`
 */
export function temporalTool<const Name extends string, Input extends Schema>(
  init: TemporalToolOptions<Name, Input>,
): Tool {
  const { runs, type, taskQueue, attempts, heartbeatMs, ...rest } = init
  const execute = (): never => {
    const message = `"${init.name}" is the ${runs} "${type}" of a Temporal service, but this host does not run on Temporal`
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

/** `undefined` for a tool with its own `execute`. */
export function findForeignWork(of: Tool): ForeignWork | undefined {
  return (of as { readonly [FOREIGN]?: ForeignWork })[FOREIGN]
}
