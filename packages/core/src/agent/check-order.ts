// Checks `firstTool`, `order` and `stopWhen` when an agent is defined: an unknown tool name would deny every call, or
// never end a turn.
import { BatonError } from '../errors.ts'
import type { OrderRule, StopRule } from '../machine/spec.ts'
import { describeValue } from '../shape/value-reader.ts'

interface Ordered {
  readonly name: string
  readonly firstTool?: string
  readonly order?: readonly OrderRule[]
  readonly sources?: readonly unknown[]
}

/**
 * @param tools names of the agent's own tools; sources may add others
 * @throws BatonError `invalid_agent`
 */
export function checkOrder(
  { name: agent, firstTool, order, sources = [] }: Ordered,
  tools: ReadonlySet<string>,
): Pick<Ordered, 'firstTool' | 'order'> {
  const refuse = (why: string, hint = FORM): BatonError =>
    new BatonError({ code: 'invalid_agent', message: `agent "${agent}": ${why}`, hint })
  const demand = (where: string, named: unknown): void => {
    if (typeof named !== 'string') throw refuse(`${where} must be the name of a tool, not ${describeValue(named)}`)
    if (tools.has(named) || sources.length > 0) return
    throw refuse(`${where} names "${named}", which is not one of its tools`, `Its tools are ${[...tools].join(', ')}.`)
  }
  if (firstTool !== undefined) demand('firstTool', firstTool)
  for (const [index, rule] of (order ?? []).entries()) {
    const where = `order[${index}]`
    const { tool, answer, after, ...rest } = Object(rule) as Readonly<Record<string, unknown>> // any value has fields
    const [unknown] = Object.keys(rest)
    if (unknown !== undefined) throw refuse(`${where} has no field "${unknown}"`)
    if ((tool === undefined) === (answer === undefined) || (answer !== undefined && answer !== true))
      throw refuse(`${where} must have either tool, the name of a tool, or answer: true`)
    if (tool !== undefined) demand(`${where}.tool`, tool)
    if (!Array.isArray(after) || after.length === 0)
      throw refuse(`${where}.after must be a list of names of tools, not ${describeValue(after)}`)
    for (const [at, named] of (after as readonly unknown[]).entries()) {
      demand(`${where}.after[${at}]`, named)
      if (named === tool) throw refuse(`${where}: "${String(named)}" cannot come after itself`)
    }
  }
  return { ...(firstTool !== undefined && { firstTool }), ...(order && { order }) }
}

/**
 * Accepts one condition or a list. `tools` are the names of the agent's own tools; with sources, others may come.
 * @throws BatonError `invalid_agent`
 */
export function checkStopWhen(
  { name: agent, stopWhen, sources = [] }: Pick<Ordered, 'name' | 'sources'> & { readonly stopWhen?: unknown },
  tools: ReadonlySet<string>,
): readonly StopRule[] {
  const conditions: readonly unknown[] = Array.isArray(stopWhen) ? stopWhen : [stopWhen]
  return conditions.map((condition, index) => {
    const where = Array.isArray(stopWhen) ? `stopWhen[${index}]` : 'stopWhen'
    const refuse = (why: string, hint = STOP_FORM): BatonError =>
      new BatonError({ code: 'invalid_agent', message: `agent "${agent}": ${where}${why}`, hint })
    if (typeof condition !== 'object' || condition === null)
      throw refuse(` must be a condition, not ${describeValue(condition)}`)
    const { tool, rounds, ...rest } = condition as Readonly<Record<string, unknown>> // any object has fields
    const [unknown] = Object.keys(rest)
    if (unknown !== undefined) throw refuse(` has no field "${unknown}"`)
    if (typeof tool === 'string' && rounds === undefined) {
      if (tools.has(tool) || sources.length > 0) return { tool }
      throw refuse(` names "${tool}", which is none of its tools`, `Its tools are ${[...tools].join(', ')}.`)
    }
    if (tool === undefined && Number.isSafeInteger(rounds) && Number(rounds) > 0) return { rounds: Number(rounds) }
    throw refuse(' must have either tool, the name of a tool, or rounds, a whole number of 1 or more')
  })
}

const STOP_FORM = "A condition is { tool: 'submit' } or { rounds: 5 }."

const FORM = "A rule is { tool: 'refund', after: ['look_up'] } or { answer: true, after: ['look_up'] }."
