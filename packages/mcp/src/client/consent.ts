// Asks the user whether a call may go to a tool that its server has changed. It uses a question instead of an approval,
// because remembered approvals and policies can answer approvals without having seen the change.
import type { ToolContext } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { Tool as McpTool } from '@modelcontextprotocol/client'
import { listChanges } from './pins.ts'

export interface ChangedTool {
  readonly server: string
  readonly before: McpTool
  readonly after: McpTool
}

/** Total characters of all quotes; a question has at most 4,000. */
const QUOTED_CHARS = 3_000
/** Characters shown before the first difference. */
const LEAD_CHARS = 40

const SCHEMA = {
  type: 'object',
  properties: { accept: { type: 'boolean', title: 'Accept the change and run the call?' } },
  required: ['accept'],
} as const

/** Resolves if the person accepts. @throws BatonError `call_denied` if not; the call must not be sent */
export async function askConsent(tool: ChangedTool, context: Pick<ToolContext, 'ask' | 'attempt'>): Promise<void> {
  const changes = listChanges(tool.before, tool.after)
  const what = `MCP server "${tool.server}" changed its tool "${tool.before.name}" (${changes.map(({ field }) => field).join(', ')})`
  const deny = (why: string, cause?: unknown): BatonError =>
    new BatonError({ code: 'call_denied', message: `${what}; the call was not sent: ${why}`, cause })
  // An earlier attempt's recorded answer may belong to another question, so a repeated attempt asks nothing.
  if (context.attempt > 1) throw deny('it was a repeated attempt. A new call asks the user')
  const quoted = Math.floor(QUOTED_CHARS / (2 * changes.length))
  const lines = changes.flatMap(({ field, before, after }) => quoteBoth(field, before, after, quoted))
  const message = [`${what} since it was first seen.`, ...lines].join('\n')
  let answer: { readonly accept?: unknown }
  try {
    answer = (await context.ask({ message, schema: SCHEMA })) as typeof answer // an object, by its schema
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'question_declined') throw deny(cause.message, cause)
    throw cause
  }
  if (answer.accept !== true) throw deny('the user did not accept the change')
}

/** Two lines that show the difference. They are JSON, so the server's text cannot look like a line of the question. */
function quoteBoth(field: string, before: string, after: string, chars: number): readonly string[] {
  let same = 0
  while (same < Math.min(before.length, after.length) && before[same] === after[same]) same += 1
  const from = Math.max(0, same - LEAD_CHARS)
  const quote = (text: string): string => {
    const rest = text.length - from - chars
    return `${from > 0 ? '…' : ''}${text.slice(from, from + chars)}${rest > 0 ? `… (${rest} more characters)` : ''}`
  }
  return [`${field} was: ${quote(before)}`, `${field} is: ${quote(after)}`]
}
