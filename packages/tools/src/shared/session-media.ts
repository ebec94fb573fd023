// Finds pictures and files of a conversation by name, for tools.
import { createHash } from 'node:crypto'
import type { FilePart, ImagePart, ToolContext } from '@baton/core/internal'

export type MediaPart = ImagePart | FilePart

/** Returns the newest first. */
export async function listSessionMedia(context: Pick<ToolContext, 'messages'>): Promise<readonly MediaPart[]> {
  const messages = await context.messages()
  const parts = messages.flatMap((message) =>
    message.role === 'user'
      ? message.parts
      : message.role === 'tool'
        ? message.parts.flatMap((part) => part.content)
        : [],
  )
  return parts.filter((part) => part.type === 'image' || part.type === 'file').toReversed()
}

const HANDLE = /^media:(?:latest(?:-(\d{1,3}))?|([0-9a-f]{64}))$/

/**
 * Finds media by `media:latest` (the newest), `media:latest-1` (the one before) or `media:` with the SHA-256 of the
 * bytes; `undefined` if there is none. `isHandle` tells whether the text has such a form at all.
 */
export function findByHandle<Part extends MediaPart>(parts: readonly Part[], text: string): Part | undefined {
  const [, back, digest] = HANDLE.exec(text) ?? []
  if (digest === undefined) return isHandle(text) ? parts[Number(back ?? 0)] : undefined
  return parts.find(({ source }) => source.type === 'base64' && digestOf(source.data) === digest)
}

export function isHandle(text: string): boolean {
  return HANDLE.test(text)
}

function digestOf(base64: string): string {
  return createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex')
}
