// Converts an editor's prompt into content for the model: text, images, and attached files.
import type { ContentPart } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Block } from './updates.ts'

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
