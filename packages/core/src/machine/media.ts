// Images and files as the machine sees them: their number and size. It never inspects their bytes.
import type { FilePart, ImagePart, MediaSource, StoredPart } from '../messages.ts'
import type { Limits } from './spec.ts'

export type StoredMedia = ImagePart<MediaSource> | FilePart<MediaSource>

export function isMedia(part: StoredPart): part is StoredMedia {
  return part.type === 'image' || part.type === 'file'
}

/** Bytes sent with a request; none for an address. */
export function countMediaBytes(source: MediaSource): number {
  if (source.type === 'blob') return source.bytes
  if (source.type === 'url') return 0
  const { data } = source
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return Math.floor((data.length * 3) / 4) - padding
}

/** Describes the first violation of a limit in an input or result, with the value and the limit. */
export function findLargeMedia(
  parts: readonly StoredPart[],
  { mediaBytes, inputMediaBytes, mediaParts }: Limits,
): string | undefined {
  let count = 0
  let total = 0
  for (const [index, part] of parts.entries()) {
    if (!isMedia(part)) continue
    const bytes = countMediaBytes(part.source)
    if (bytes > mediaBytes)
      return `the ${part.type} at ${index} has ${bytes} bytes; at most ${mediaBytes} are allowed (mediaBytes)`
    count += 1
    total += bytes
  }
  if (count > mediaParts) return `it has ${count} images and files; at most ${mediaParts} are allowed (mediaParts)`
  if (total <= inputMediaBytes) return undefined
  return `its images and files have ${total} bytes; at most ${inputMediaBytes} are allowed (inputMediaBytes)`
}
