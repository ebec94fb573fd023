// Records a model's requests and answers for tests that replay them. Secrets are removed first.
import type { Model, ModelEvent } from '@baton/core'
import { isBatonError } from '@baton/core'
import { writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import type { RecordedCall, RecordedModel } from './recording.ts'
import { createHider, describeRequest, hashRequest, hideInPieces, RECORDING_VERSION } from './recording.ts'

export interface RecordOptions {
  /** Values replaced by `[redacted]` everywhere, in addition to keys and tokens recognized by their form. */
  readonly secrets?: readonly string[]
}

/**
 * Wraps a model so that its calls are written to `file`, which is overwritten. A call is written once it has ended,
 * with its error if it failed; an aborted call is omitted. The file contains what people said, so only its owner can
 * read it.
 * @throws Error of the file system, immediately or during a call
 */
export function recordModel(model: Model, file: string, { secrets = [] }: RecordOptions = {}): Model {
  const hide = createHider(secrets)
  const { id, provider, capabilities } = model
  const head: RecordedModel = { type: 'baton-model-recording', version: RECORDING_VERSION, id, provider, capabilities }
  writeFileSync(file, `${JSON.stringify(head)}\n`, { mode: 0o600 })
  let writing: Promise<void> = Promise.resolve()
  const write = async (call: RecordedCall): Promise<void> => {
    // Writes one call after another, because calls of several sessions may end together.
    const before = writing
    const written = before.catch(() => {}).then(() => appendFile(file, `${hide(JSON.stringify(call))}\n`))
    writing = written
    await written
  }
  return {
    id,
    provider,
    capabilities,
    run: async (asked, sink, signal) => {
      const request = describeRequest(asked, hide)
      const events: ModelEvent[] = []
      const begun = { type: 'call', hash: hashRequest(request), request } as const
      const take = (event: ModelEvent): void => {
        events.push(event)
        sink(event)
      }
      let answer
      try {
        answer = await model.run(asked, take, signal)
      } catch (cause) {
        if (isBatonError(cause) && !signal.aborted) {
          const { code, message, retryable, data } = cause
          await write({ ...begun, events: hideInPieces(events, hide), error: { code, message, retryable, data } })
        }
        throw cause
      }
      await write({ ...begun, events: hideInPieces(events, hide), answer })
      return answer
    },
  }
}
