// Converts values to payloads as Temporal does, applying the user's codecs and storing long payloads in the blob store.
import type { BlobStore } from '@baton/core/internal'
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common'
import { createHash } from 'node:crypto'

/** The blob store is last, so that data encrypted by the user's codecs is stored encrypted. */
export function createDataConverter(blobs: BlobStore, own: DataConverter = {}): DataConverter {
  return { ...own, payloadCodecs: [...(own.payloadCodecs ?? []), createBlobCodec(blobs)] }
}

/** Used instead of a session's name. */
const FOLDER = 'baton-payloads'
const ENCODING = 'baton/blob'
/** Maximum bytes of a payload sent as is. The service warns above 256 KiB, and refuses 2 MB. */
const INLINE_BYTES = 128 * 1024

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/**
 * Stores payloads that are too long for the service in the blob store, under a hash of their content; the service only
 * gets their names.
 */
function createBlobCodec(blobs: BlobStore): PayloadCodec {
  return {
    encode: (payloads) => Promise.all(payloads.map((payload) => keep(blobs, payload))),
    decode: (payloads) => Promise.all(payloads.map((payload) => fetchKept(blobs, payload))),
  }
}

async function keep(blobs: BlobStore, payload: Payload): Promise<Payload> {
  const { data, metadata } = payload
  if (!data || data.length <= INLINE_BYTES) return payload
  // A payload from a workflow consists of plain numbers.
  const bytes = Buffer.from(data)
  const name = createHash('sha256').update(bytes).digest('hex')
  const kept = Object.fromEntries(
    Object.entries(metadata ?? {}).map(([key, value]) => [key, decode(Uint8Array.from(value))]),
  )
  await blobs.put(FOLDER, name, JSON.stringify({ metadata: kept, data: bytes.toString('base64') }))
  return { metadata: { encoding: encode(ENCODING) }, data: encode(name) }
}

/** @throws Error that names a missing blob */
async function fetchKept(blobs: BlobStore, payload: Payload): Promise<Payload> {
  const { data, metadata } = payload
  const encoding = metadata?.['encoding']
  if (!data || !encoding || decode(Uint8Array.from(encoding)) !== ENCODING) return payload
  const name = decode(Uint8Array.from(data))
  const text = await blobs.get(FOLDER, name)
  if (text === undefined) throw new Error(`payload ${name} is not in the blob store`)
  const kept = JSON.parse(text) as { readonly metadata: Readonly<Record<string, string>>; readonly data: string } // as stored by keep
  const restored = Object.entries(kept.metadata).map(([key, value]) => [key, encode(value)])
  return {
    metadata: Object.fromEntries(restored) as Record<string, Uint8Array>,
    data: Buffer.from(kept.data, 'base64'),
  }
}
