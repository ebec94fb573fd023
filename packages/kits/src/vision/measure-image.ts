// Facts about a picture from its bytes, without a model: type, size in pixels, and whether it is animated.
import { BatonError } from '@baton/core'
import { imageSize } from 'image-size'

/** Types that all image models support. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** Type and size of a picture, read from its first bytes. */
export interface Measured {
  readonly mediaType: ImageType
  /** Pixels as displayed, after EXIF rotation. */
  readonly width: number
  readonly height: number
  readonly bytes: number
  readonly animated: boolean
}

/**
 * Determines the type from the bytes, whatever the sender says.
 * @param what prefix of the error
 * @throws BatonError `media_unsupported`
 */
export function measureImage(what: string, bytes: Uint8Array): Measured {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const mediaType = sniffImage(buffer)
  if (mediaType === undefined)
    throw new BatonError({
      code: 'media_unsupported',
      message: `${what} is not a supported picture: use PNG, JPEG, GIF or WebP (it has ${bytes.length} bytes)`,
    })
  const { width, height, orientation = 1 } = readSize(what, buffer)
  const isTurned = orientation >= 5 // https://exiftool.org/TagNames/EXIF.html (Orientation)
  return {
    mediaType,
    width: isTurned ? height : width,
    height: isTurned ? width : height,
    bytes: bytes.length,
    animated: isAnimated(mediaType, buffer),
  }
}

function readSize(what: string, buffer: Buffer) {
  try {
    const size = imageSize(buffer)
    if (size.width > 0 && size.height > 0) return size
  } catch {
    // reported below, in our own words
  }
  throw new BatonError({ code: 'media_unsupported', message: `${what} is a damaged picture: its size cannot be read` })
}

/** https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern */
function sniffImage(buffer: Buffer): ImageType | undefined {
  const start = buffer.toString('latin1', 0, 12)
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif'
  return start.startsWith('RIFF') && start.endsWith('WEBP') ? 'image/webp' : undefined
}

function isAnimated(mediaType: ImageType, buffer: Buffer): boolean {
  switch (mediaType) {
    case 'image/png':
      return hasAnimationChunk(buffer)
    case 'image/webp':
      // https://developers.google.com/speed/webp/docs/riff_container#extended_file_format
      return buffer.toString('latin1', 12, 16) === 'VP8X' && ((buffer[20] ?? 0) & 2) !== 0
    case 'image/gif':
      return countFrames(buffer) > 1
    case 'image/jpeg':
      return false
  }
}

/** `acTL` precedes the pixels: https://www.w3.org/TR/png-3/#acTL-chunk */
function hasAnimationChunk(buffer: Buffer): boolean {
  for (let at = 8; at + 8 <= buffer.length;) {
    const type = buffer.toString('latin1', at + 4, at + 8)
    if (type === 'acTL') return true
    if (type === 'IDAT') return false
    at += 12 + buffer.readUInt32BE(at)
  }
  return false
}

/** Counts up to two: https://www.w3.org/Graphics/GIF/spec-gif89a.txt */
function countFrames(buffer: Buffer): number {
  const table = (flags: number): number => (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0)
  let at = 13 + table(buffer[10] ?? 0)
  let frames = 0
  while (at < buffer.length && frames < 2) {
    const mark = buffer[at]
    if (mark === 0x2c) {
      frames += 1
      at += 11 + table(buffer[at + 9] ?? 0)
    } else if (mark === 0x21) at += 2
    else break
    // Skips blocks until an empty one.
    for (let size = buffer[at] ?? 0; size > 0 && at < buffer.length; size = buffer[at] ?? 0) at += size + 1
    at += 1
  }
  return frames
}
