// Media types declared by people, tools and servers, the types that the bytes show, and `data:` addresses. Reads text
// only.

/**
 * Signatures from https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern, and the brands of ISO 23008-12.
 */
const SIGNATURES: readonly (readonly [type: string, at: number, text: string])[] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF87a'],
  ['image/gif', 0, 'GIF89a'],
  ['image/webp', 8, 'WEBP'],
  ['image/bmp', 0, 'BM'],
  ['image/tiff', 0, 'II*\0'],
  ['image/tiff', 0, 'MM\0*'],
  ['image/avif', 4, 'ftypavif'],
  ['image/avif', 4, 'ftypavis'],
  ['image/heic', 4, 'ftypheic'],
  ['image/heic', 4, 'ftypheix'],
  ['image/heif', 4, 'ftypmif1'],
]

/** Base64 characters that hold the longest signature, 12 bytes. */
const SIGNATURE_CHARS = 16

/** The type of an image by its first bytes; undefined if unknown. */
export function sniffImageType(base64: string): string | undefined {
  const head = readBytes(base64.slice(0, SIGNATURE_CHARS))
  return SIGNATURES.find(([, at, text]) => head.startsWith(text, at))?.[0]
}

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['image/x-ms-bmp', 'image/bmp'],
  ['image/x-bmp', 'image/bmp'],
])

/** The registered name of an image type: in lower case, without parameters. */
export function nameImageType(mediaType: string): string {
  const name = (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase()
  return ALIASES.get(name) ?? name
}

export interface DataAddress {
  /** The type as written in the address, including parameters; empty if absent. */
  readonly mediaType: string
  /** Padded base64. */
  readonly data: string
}

/** Decodes a `data:` address, in base64 or percent-encoded (RFC 2397); undefined for any other address. */
export function readDataAddress(address: string): DataAddress | undefined {
  const head = /^data:([^,]*),/i.exec(address)
  if (!head) return undefined
  const told = head[1] ?? ''
  const body = address.slice(head[0].length)
  const mediaType = told.replace(/;\s*base64\s*$/i, '')
  if (mediaType === told) return { mediaType, data: writeBase64(unescapeBytes(body)) }
  const plain = body.includes('%') ? unescapeBytes(body) : body
  const data = plain
    .replace(/[\s=]+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
  return { mediaType, data: data.padEnd(Math.ceil(data.length / 4) * 4, '=') }
}

/** One character per byte. */
function unescapeBytes(text: string): string {
  const escaped = text.replace(/\P{ASCII}/gu, (char) => encodeURIComponent(/\p{Cs}/u.test(char) ? '\ufffd' : char))
  return escaped.replace(/%[\da-f]{2}/gi, (byte) => String.fromCharCode(Number.parseInt(byte.slice(1), 16)))
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function readBytes(base64: string): string {
  let bytes = ''
  let bits = 0
  let held = 0
  for (const digit of base64) {
    const value = DIGITS.indexOf(digit)
    if (value === -1) break
    held = ((held << 6) | value) & 0xffff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes += String.fromCharCode((held >> bits) & 0xff)
  }
  return bytes
}

function writeBase64(bytes: string): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const three =
      (bytes.charCodeAt(at) << 16) | ((bytes.charCodeAt(at + 1) || 0) << 8) | (bytes.charCodeAt(at + 2) || 0)
    for (let shift = 18; shift >= 0; shift -= 6) text += DIGITS[(three >> shift) & 63]
  }
  const missing = (3 - (bytes.length % 3)) % 3
  return missing === 0 ? text : text.slice(0, -missing) + '='.repeat(missing)
}
