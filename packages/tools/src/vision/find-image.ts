// Finds the picture that a text names: an address, a picture of the session, or what the program knows by that id.
import { createHash } from 'node:crypto'
import type { ToolContext } from '@baton/core'
import { BatonError } from '@baton/core'
import type { DocumentFetcher } from '../shared/pages/fetch-document.ts'
import type { Measured } from './measure-image.ts'
import { measureImage } from './measure-image.ts'

export interface FoundImage extends Measured {
  /** As it was named. */
  readonly name: string
  readonly data: Uint8Array
}

export type ReadImage<Services> = (
  id: string,
  context: ToolContext<Services>,
) => Uint8Array | string | undefined | Promise<Uint8Array | string | undefined>

export class ImageFinder<Services> {
  readonly #fetcher: DocumentFetcher
  readonly #maxBytes: number
  readonly #read: ReadImage<Services> | undefined

  constructor(fetcher: DocumentFetcher, maxBytes: number, read: ReadImage<Services> | undefined) {
    this.#fetcher = fetcher
    this.#maxBytes = maxBytes
    this.#read = read
  }

  /**
   * @throws BatonError `context_missing` (nothing has that name), `media_unsupported`, `input_too_large`, and as
   * `DocumentFetcher.fetchBytes` does
   */
  async find(name: string, context: ToolContext<Services>): Promise<FoundImage> {
    const data = await this.#load(name, context)
    if (data.length > this.#maxBytes)
      throw new BatonError({
        code: 'input_too_large',
        message: `the picture "${name.slice(0, 100)}" has ${data.length} bytes; at most ${this.#maxBytes} are looked at`,
      })
    return { name, data, ...measureImage(`"${name.slice(0, 100)}"`, data) }
  }

  async #load(name: string, context: ToolContext<Services>): Promise<Uint8Array> {
    const handle = /^media:(latest|[0-9a-f]{64})$/.exec(name)?.[1]
    if (handle !== undefined) return await findInSession(handle, context)
    if (/^https?:/i.test(name)) return await this.#fetch(name, context)
    const known = await this.#read?.(name, context)
    if (typeof known === 'string') return await this.#fetch(known, context)
    if (known !== undefined) return known
    throw new BatonError({
      code: 'context_missing',
      message: `there is no picture "${name.slice(0, 100)}": give an address with https://, media:latest for the newest picture of this conversation, or an id that you were given`,
    })
  }

  async #fetch(address: string, { signal }: ToolContext<Services>): Promise<Uint8Array> {
    return (await this.#fetcher.fetchBytes(address, 'image/png,image/jpeg,image/gif,image/webp', signal)).bytes
  }
}

/** A handle is the SHA-256 of the bytes. */
async function findInSession(handle: string, context: Pick<ToolContext, 'messages'>): Promise<Uint8Array> {
  const messages = await context.messages()
  for (const message of messages.toReversed()) {
    const content =
      message.role === 'user'
        ? message.parts
        : message.role === 'tool'
          ? message.parts.flatMap((part) => part.content)
          : []
    for (const part of content.toReversed()) {
      if (part.type !== 'image' || part.source.type !== 'base64') continue
      const bytes = Buffer.from(part.source.data, 'base64')
      if (handle === 'latest' || createHash('sha256').update(bytes).digest('hex') === handle) return bytes
    }
  }
  throw new BatonError({
    code: 'context_missing',
    message:
      handle === 'latest' ? 'this conversation has no picture' : `this conversation has no picture media:${handle}`,
  })
}
