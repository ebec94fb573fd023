// How values become payloads: as Temporal does it, by codecs of the user's own, and with long ones in the blob store.
import type { BlobStore } from '@baton/core'
import type { DataConverter } from '@temporalio/common'
import { createBlobCodec } from './payload-codec.ts'

/** The blob store comes last: what the user's codecs encrypt is kept encrypted there. */
export function createDataConverter(blobs: BlobStore, own: DataConverter = {}): DataConverter {
  return { ...own, payloadCodecs: [...(own.payloadCodecs ?? []), createBlobCodec(blobs)] }
}
