// Pictures and files of a conversation, as tools find them by name.
import { createHash } from 'node:crypto'
import type { FilePart, ImagePart, ToolContext } from '@baton/core'

export type MediaPart = ImagePart | FilePart

/** Newest first. */
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
 * Finds the media that `media:latest` (the newest), `media:latest-1` (the one before) or `media:` with the SHA-256 of the bytes names; undefined where
 * there is none. `isHandle` says whether the text has such a form at all.
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
