// Converts values to payloads as Temporal does, applying the user's codecs and storing long payloads in the blob store.
import type { BlobStore } from '@baton/core/internal'
import type { DataConverter } from '@temporalio/common'
import { createBlobCodec } from './payload-codec.ts'

/** The blob store is last, so that data encrypted by the user's codecs is stored encrypted. */
export function createDataConverter(blobs: BlobStore, own: DataConverter = {}): DataConverter {
  return { ...own, payloadCodecs: [...(own.payloadCodecs ?? []), createBlobCodec(blobs)] }
}
