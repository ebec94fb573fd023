// Finds the file that an argument names or contains: from the conversation, from the program, or as text or base64 in
// the argument.
import type { JsonValue, ToolContext } from '@baton/core/internal'
import { BatonError, isJsonObject, readDataAddress } from '@baton/core/internal'
import type { DocumentFetcher } from '../shared/pages/fetch-document.ts'
import { bareType } from '../shared/media-types.ts'
import type { MediaPart } from '../shared/session-media.ts'
import { findByHandle, isHandle, listSessionMedia } from '../shared/session-media.ts'

export interface FoundFile {
  readonly data: Uint8Array
  /** Without folders. */
  readonly name: string
  readonly mediaType: string
}

/** A file that a program returns for its own id: bytes or text, with a name and media type if known. */
export interface ProgramFile {
  readonly data: Uint8Array | string
  readonly name?: string
  readonly mediaType?: string
}

export type ReadFile<Services> = (
  id: string,
  context: ToolContext<Services>,
) => ProgramFile | undefined | Promise<ProgramFile | undefined>

/** Finds the file given in the argument of a property. */
export type FindFile = (value: JsonValue, property: string) => Promise<FoundFile>

interface FileSources<Services> {
  readonly read: ReadFile<Services> | undefined
  readonly fetcher: DocumentFetcher
  /** Maximum total bytes of the files in one request. */
  readonly maxBytes: number
}

/** Bytes with their metadata. */
interface Content {
  readonly data: Uint8Array
  readonly name?: string | undefined
  readonly mediaType?: string | undefined
}

const UNKNOWN = 'application/octet-stream'

/**
 * Creates the finder for one request. It throws BatonError `invalid_arguments` (not a valid file argument),
 * `context_missing` (no such file), `input_too_large`, and as `DocumentFetcher.fetchBytes` does.
 */
export function createFileFinder<Services>(
  { read, fetcher, maxBytes }: FileSources<Services>,
  context: ToolContext<Services>,
): FindFile {
  let media: Promise<readonly MediaPart[]> | undefined
  let left = maxBytes
  const load = async (id: string, property: string): Promise<Content> => {
    if (/^data:/i.test(id)) return readData(id, property)
    const parts = await (media ??= listSessionMedia(context))
    const part = isHandle(id)
      ? findByHandle(parts, id)
      : parts.find(({ type, source, ...rest }) =>
          source.type === 'url' ? source.url === id : type === 'file' && 'name' in rest && rest.name === id,
        )
    if (part) return await readPart(part, fetcher, context)
    const known = await read?.(id, context)
    if (known) return { ...known, data: typeof known.data === 'string' ? Buffer.from(known.data) : known.data }
    throw new BatonError({
      code: 'context_missing',
      message: `there is no file "${id.slice(0, 100)}" for "${property.slice(0, 100)}": use media:latest for the newest picture or file in this conversation, the name of a file in it, an id that you were given, or an object with "text" or "base64"`,
    })
  }
  return async (value, property) => {
    const content = await readValue(value, property, load)
    left -= content.data.length
    if (left < 0)
      throw new BatonError({
        code: 'input_too_large',
        message: `the files of this request have more than ${maxBytes} bytes, which is the maximum`,
      })
    const mediaType = content.mediaType !== undefined && isMediaType(content.mediaType) ? content.mediaType : UNKNOWN
    return { data: content.data, mediaType, name: nameFile(content.name, mediaType) }
  }
}

async function readValue(
  value: JsonValue,
  property: string,
  load: (id: string, property: string) => Promise<Content>,
): Promise<Content> {
  if (typeof value === 'string') return await load(value, property)
  if (!isJsonObject(value)) throw wrongFile(property)
  const { media, text, base64, name, mediaType } = value
  const told = {
    ...(typeof name === 'string' && name !== '' && { name }),
    ...(typeof mediaType === 'string' && mediaType !== '' && { mediaType }),
  }
  if ([media, text, base64].filter((source) => source !== undefined).length !== 1) throw wrongFile(property)
  if (typeof media === 'string') return { ...(await load(media, property)), ...told }
  if (typeof text === 'string') return { mediaType: 'text/plain', ...told, data: Buffer.from(text) }
  if (typeof base64 === 'string')
    return { ...readData(`data:;base64,${base64.replace(/^data:[^,]*,/i, '')}`, property), ...told }
  throw wrongFile(property)
}

function readData(address: string, property: string): Content {
  const read = readDataAddress(address)
  if (!read || !/^[A-Za-z0-9+/]*={0,2}$/.test(read.data))
    throw new BatonError({ code: 'invalid_arguments', message: `"${property.slice(0, 100)}" is not valid base64` })
  return { data: Buffer.from(read.data, 'base64'), ...(read.mediaType !== '' && { mediaType: read.mediaType }) }
}

/** Fetches an address only if a part of the conversation has it. */
async function readPart<Services>(
  part: MediaPart,
  fetcher: DocumentFetcher,
  { signal }: ToolContext<Services>,
): Promise<Content> {
  const { mediaType, source } = part
  const name = part.type === 'file' ? part.name : undefined
  if (source.type === 'base64') return { data: Buffer.from(source.data, 'base64'), name, mediaType }
  if (/^data:/i.test(source.url)) return { mediaType, name, ...readData(source.url, 'media') }
  const { bytes, contentType, url } = await fetcher.fetchBytes(source.url, '*/*', signal)
  const last = new URL(url).pathname.split('/').at(-1)
  return { data: bytes, name: name ?? last, mediaType: mediaType.includes('*') ? bareType(contentType) : mediaType }
}

function isMediaType(text: string): boolean {
  return /^[\w.+-]+\/[\w.+-]+(?:\s*;\s*[\w-]+=(?:[\w.+-]+|"[\w .+-]*"))*$/.test(text)
}

/** Names a file without a name, because services may decide by the extension. */
function nameFile(name: string | undefined, mediaType: string): string {
  const last = name
    ?.split(/[\\/]/)
    .at(-1)
    ?.replaceAll(/\p{Cc}/gu, '')
    .slice(0, 200)
  if (last !== undefined && last !== '' && last !== '.' && last !== '..') return last
  const type = bareType(mediaType)
  return `file.${ENDINGS.get(type) ?? type.split('/')[1]?.replace(/^x-|\+.*$/g, '') ?? 'bin'}`
}

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ['image/jpeg', 'jpg'],
  ['audio/mpeg', 'mp3'],
  [UNKNOWN, 'bin'],
])

function wrongFile(property: string): BatonError {
  return new BatonError({
    code: 'invalid_arguments',
    message: `"${property.slice(0, 100)}" takes a file: the name of one, such as media:latest, or an object with one of "media", "text" and "base64"`,
  })
}
