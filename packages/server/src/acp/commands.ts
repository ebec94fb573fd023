// Commands that a user types instead of a prompt: `/status` and `/retry`. They are handled here and are not part of the
// conversation.
import type { AcpSession } from './acp-session.ts'
import type { Block, TurnEnd, Update } from './updates.ts'

export interface ShownCommand {
  readonly name: string
  readonly description: string
}

export const COMMANDS: readonly ShownCommand[] = [
  { name: 'status', description: 'Shows the model, how full its window is, and what is waiting' },
  { name: 'retry', description: 'Replaces the newest answer with another one' },
]

export type Command = 'status' | 'retry'

/** `undefined` for a prompt to the agent. */
export function readCommand(blocks: readonly Block[]): Command | undefined {
  const [block] = blocks
  if (blocks.length !== 1 || block?.type !== 'text') return undefined
  const [, name] = /^\/(status|retry)\s*$/.exec(block.text) ?? []
  return name as Command | undefined // the expression allows no other
}

export interface CommandPlace {
  readonly tell: (update: Update) => Promise<void>
  readonly isCancelled: () => boolean
}

export async function runCommand(
  command: Command,
  session: AcpSession,
  { tell, isCancelled }: CommandPlace,
): Promise<TurnEnd> {
  if (command === 'retry') return await session.retry(isCancelled)
  await tell({ type: 'text', id: `status-${crypto.randomUUID()}`, text: await describeStatus(session) })
  return { stop: 'end' }
}

async function describeStatus({ session, mode }: AcpSession): Promise<string> {
  const { agent, model, context, activity, queued, approvals, questions } = await session.info()
  const window = context.size === undefined ? '' : ` of ${context.size}`
  const waiting = [
    ...(queued.length > 0 ? [`${queued.length} prompts`] : []),
    ...(approvals.length > 0 ? [`approvals of ${approvals.map(({ name }) => name).join(', ')}`] : []),
    ...(questions.length > 0 ? [`${questions.length} questions`] : []),
  ]
  const lines = [
    `Agent: ${agent}`,
    `Session: ${session.id} (${activity})`,
    `Model: ${model}`,
    `Context: about ${context.used}${window} tokens`,
    `Mode: ${mode}`,
    ...(waiting.length > 0 ? [`Waits: ${waiting.join('; ')}`] : []),
  ]
  return lines.join('\n\n')
}
