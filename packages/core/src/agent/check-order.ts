// Checks the order of calls that an agent demands when it is defined: an unknown tool name would deny every call.
import { BatonError } from '../errors.ts'
import type { OrderRule } from '../machine/spec.ts'
import { describeValue } from './value-reader.ts'

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

const FORM = "A rule is { tool: 'refund', after: ['look_up'] } or { answer: true, after: ['look_up'] }."
