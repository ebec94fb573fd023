// Finds a picture by text: an address, a picture of the session, or an id known to the program.
import type { ToolContext } from '@baton/core/internal'
import { BatonError, readDataAddress } from '@baton/core/internal'
import type { DocumentFetcher } from '@baton/tools/internal'
import { findByHandle, isHandle, listSessionMedia } from '@baton/tools/internal'
import type { Measured } from './measure-image.ts'
import { measureImage } from './measure-image.ts'

export interface FoundImage extends Measured {
  /** The name it was requested by. */
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
   * @throws BatonError `context_missing` (no such picture), `media_unsupported`, `input_too_large`, and as
   * `DocumentFetcher.fetchBytes` does
   */
  async find(name: string, context: ToolContext<Services>): Promise<FoundImage> {
    const data = await this.#load(name, context)
    if (data.length > this.#maxBytes)
      throw new BatonError({
        code: 'input_too_large',
        message: `the picture "${name.slice(0, 100)}" has ${data.length} bytes; the maximum is ${this.#maxBytes}`,
      })
    return { name, data, ...measureImage(`"${name.slice(0, 100)}"`, data) }
  }

  async #load(name: string, context: ToolContext<Services>): Promise<Uint8Array> {
    if (isHandle(name)) return await this.#findInSession(name, context)
    if (/^https?:/i.test(name)) return await this.#fetch(name, context)
    const known = await this.#read?.(name, context)
    if (typeof known === 'string') return await this.#fetch(known, context)
    if (known !== undefined) return known
    throw new BatonError({
      code: 'context_missing',
      message: `there is no picture "${name.slice(0, 100)}": use an address with https://, media:latest for the newest picture in this conversation, or an id that you were given`,
    })
  }

  async #fetch(address: string, { signal }: ToolContext<Services>): Promise<Uint8Array> {
    return (await this.#fetcher.fetchBytes(address, 'image/png,image/jpeg,image/gif,image/webp', signal)).bytes
  }

  /** Fetches a picture that the conversation holds by its address. */
  async #findInSession(handle: string, context: ToolContext<Services>): Promise<Uint8Array> {
    const media = await listSessionMedia(context)
    const images = media.filter(({ type }) => type === 'image')
    const source = findByHandle(images, handle)?.source
    if (source?.type === 'base64') return Buffer.from(source.data, 'base64')
    const inline = source && readDataAddress(source.url)
    if (inline) return Buffer.from(inline.data, 'base64')
    if (source) return await this.#fetch(source.url, context)
    throw new BatonError({
      code: 'context_missing',
      message: images.length === 0 ? 'this conversation has no picture' : `this conversation has no picture ${handle}`,
    })
  }
}
