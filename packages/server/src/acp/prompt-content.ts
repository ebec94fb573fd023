// An editor's prompt: a command, or content for the model, which is text, images, and attached files.
import type { ContentPart } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Block, TurnEnd, Update } from './updates.ts'
import type { AcpSession } from './acp-session.ts'

/** @throws BatonError `invalid_event` for a block that cannot be read, and for an empty prompt */
export function readPrompt(blocks: readonly Block[]): readonly ContentPart[] {
  const parts = joinTexts(blocks.map((block, index) => readBlock(block, index)))
  if (parts.length > 0) return parts
  throw new BatonError({ code: 'invalid_event', message: 'the prompt is empty; it needs at least one block' })
}

function readBlock(block: Block, index: number): ContentPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
      return { type: 'image', mediaType: block.mimeType, source: { type: 'base64', data: block.data } }
    case 'audio':
      return { type: 'file', mediaType: block.mimeType, source: { type: 'base64', data: block.data } }
    case 'resource_link': {
      const { name, uri, description } = block
      const about = description === undefined || description === null ? '' : `: ${description}`
      return { type: 'text', text: `[${name}](${uri})${about}` }
    }
    case 'resource':
      return readResource(block.resource)
    default: {
      const { type } = block as { readonly type?: unknown } // from a newer version
      throw new BatonError({
        code: 'invalid_event',
        message: `prompt[${index}] has the type ${JSON.stringify(type)}; send text, image, resource_link or resource`,
      })
    }
  }
}

function readResource(resource: Extract<Block, { readonly type: 'resource' }>['resource']): ContentPart {
  const { uri, mimeType } = resource
  if ('text' in resource) return { type: 'text', text: `<file uri=${JSON.stringify(uri)}>\n${resource.text}\n</file>` }
  const mediaType = mimeType ?? 'application/octet-stream'
  const source = { type: 'base64', data: resource.blob } as const
  if (/^image\//i.test(mediaType)) return { type: 'image', mediaType, source }
  const name = /[^/\\]+$/.exec(uri)?.[0] ?? uri
  return { type: 'file', mediaType, name, source }
}

/** Joins text blocks, because editors split a sentence at each file it mentions. */
function joinTexts(parts: readonly ContentPart[]): readonly ContentPart[] {
  const joined: ContentPart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (part.type === 'text' && last?.type === 'text') {
      const isFile = part.text.startsWith('<file ') || last.text.endsWith('</file>')
      joined[joined.length - 1] = { type: 'text', text: `${last.text}${isFile ? '\n' : ''}${part.text}` }
    } else if (part.type !== 'text' || part.text !== '') joined.push(part)
  }
  return joined
}

interface ShownCommand {
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

interface CommandPlace {
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
