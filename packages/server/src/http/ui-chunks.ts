// The chunks of an AI SDK UI message stream, version 1, as read by `useChat` of ai 7. Unknown chunks fail its
// validation, so anything specific to Baton is a `data-…` chunk. Source: ai 7.0.173,
// `ui-message-stream/ui-message-chunks.ts`.
import type { JsonValue } from '@baton/core'
import type { ChatData, ChatMetadata } from './chat-types.ts'

export type UiFinish = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'interrupted' | 'other'

interface OfCall {
  readonly toolCallId: string
}

export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata?: ChatMetadata }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' }
  | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | (OfCall & { readonly type: 'tool-input-start'; readonly toolName: string })
  | (OfCall & { readonly type: 'tool-input-delta'; readonly inputTextDelta: string })
  | (OfCall & {
      readonly type: 'tool-input-available'
      readonly toolName: string
      readonly input: JsonValue
      /** True if the page must not run it. */
      readonly providerExecuted: boolean
      readonly title?: string
    })
  | (OfCall & {
      readonly type: 'tool-output-available'
      readonly output: JsonValue
      readonly preliminary?: boolean
    })
  | (OfCall & { readonly type: 'tool-output-error'; readonly errorText: string })
  | (OfCall & { readonly type: 'tool-output-denied' })
  | (OfCall & {
      readonly type: 'tool-approval-request'
      readonly approvalId: string
      readonly approvalDescriptor?: JsonValue
    })
  | {
      readonly type: 'tool-approval-response'
      readonly approvalId: string
      readonly approved: boolean
      readonly reason?: string
    }
  | { readonly type: 'source-url'; readonly sourceId: string; readonly url: string; readonly title?: string }
  | {
      readonly type: 'source-document'
      readonly sourceId: string
      readonly mediaType: string
      readonly title: string
    }
  | { readonly type: 'steering-message'; readonly id: string; readonly parts: readonly UiInputPart[] }
  | UiDataChunk<keyof ChatData>
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'finish'; readonly finishReason: UiFinish; readonly messageMetadata?: ChatMetadata }

type UiDataChunk<Name extends keyof ChatData> = {
  readonly [Each in Name]: {
    readonly type: `data-${Each}`
    /** A later chunk with the same id replaces it. */
    readonly id?: string
    readonly data: ChatData[Each]
    /** Passed to `onData` and not kept in the message. */
    readonly transient?: boolean
  }
}[Name]

/** A part of a person's message in a UIMessage. */
export type UiInputPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly mediaType: string; readonly url: string; readonly filename?: string }

/** States of a tool part that has its result. */
export const UI_FINAL_STATES: ReadonlySet<string> = new Set(['output-available', 'output-error', 'output-denied'])
