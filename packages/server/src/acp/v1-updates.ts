// Encodes updates for version 1, which cannot retract text: a step that starts over is sent from where it differs.
import type {
  RequestPermissionRequest,
  SessionConfigOption,
  SessionUpdate,
  ToolCallContent,
} from '@agentclientprotocol/sdk'
import { textBlock } from './shown-call.ts'
import type { ShownCall, ShownChoice, ShownContent, Update } from './updates.ts'
import { encodeChoice, encodeEntries, encodeNews } from './updates.ts'

/** Display features announced by the client. */
export interface V1Shows {
  readonly notices: boolean
  readonly compaction: boolean
}

interface Message {
  /** The id the client knows it by. */
  id: string
  /** All text of it that the client has. */
  told: string
  /** Text of the repeated step, while it matches what the client has. */
  again: string | undefined
  /** Number of restarts. */
  restarts: number
}

/** Encodes the updates of one session, in order. */
export class V1Updates {
  readonly #shows: V1Shows
  /** Messages by the key of the step being written. */
  readonly #messages = new Map<string, Message>()

  constructor(shows: V1Shows) {
    this.#shows = shows
  }

  encode(update: Update): readonly SessionUpdate[] {
    switch (update.type) {
      case 'user-message':
        if (update.isOwn) return []
        return update.content.map((content) => ({
          sessionUpdate: 'user_message_chunk',
          content,
          messageId: update.id,
        }))
      case 'text':
      case 'thought':
        return this.#write(update)
      case 'whole-text':
        return [{ sessionUpdate: 'agent_message_chunk', content: textBlock(update.text), messageId: update.id }]
      case 'whole-thought':
        return [{ sessionUpdate: 'agent_thought_chunk', content: textBlock(update.text), messageId: update.id }]
      case 'text-replaced':
      case 'thought-replaced':
        this.#restart(update)
        return []
      case 'call':
        return [encodeCall(update.call, update.isNew)]
      case 'call-content':
        return [
          {
            sessionUpdate: 'tool_call_update',
            toolCallId: update.callId,
            content: update.content.map(encodeContent),
          },
        ]
      case 'ended':
        this.#messages.clear()
        return []
      default:
        return this.#encodeState(update)
    }
  }

  #encodeState(update: Update): readonly SessionUpdate[] {
    switch (update.type) {
      case 'plan':
        return [{ sessionUpdate: 'plan', entries: encodeEntries(update.entries) }]
      case 'choices':
        return [{ sessionUpdate: 'config_option_update', configOptions: encodeChoices(update.choices) }]
      case 'mode':
        return [{ sessionUpdate: 'current_mode_update', currentModeId: update.mode }]
      case 'title':
      case 'usage':
        return [encodeNews(update)]
      case 'notice':
        return this.#shows.notices ? [encodeNews(update)] : []
      case 'compacted':
        return this.#shows.compaction ? [encodeNews(update)] : []
      default:
        return []
    }
  }

  #find(id: string): Message {
    const known = this.#messages.get(id)
    if (known) return known
    const message = { id, told: '', again: undefined, restarts: 0 }
    this.#messages.set(id, message)
    return message
  }

  #write({ type, id, text }: Extract<Update, { readonly type: 'text' | 'thought' }>): readonly SessionUpdate[] {
    const message = this.#find(id)
    const tell = (more: string): readonly SessionUpdate[] => {
      message.told += more
      const sessionUpdate = type === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk'
      return [{ sessionUpdate, content: { type: 'text', text: more }, messageId: message.id }]
    }
    if (message.again === undefined) return tell(text)
    const again = message.again + text
    message.again = again
    // The client already has text that is the same.
    if (message.told.startsWith(again)) return []
    message.again = undefined
    if (again.startsWith(message.told)) return tell(again.slice(message.told.length))
    message.restarts += 1
    message.id = `${id}.${message.restarts}`
    message.told = ''
    return tell(`\n\n${again}`)
  }

  #restart({ id, text }: { readonly id: string; readonly text: string }): void {
    const message = this.#find(id)
    if (message.told !== '') message.again = text
  }
}

function encodeContent(content: ShownContent): ToolCallContent {
  return content.type === 'diff' ? { ...content } : content
}

/** A call in a permission request. */
export function encodeAsked(shown: ShownCall): Pick<RequestPermissionRequest, 'toolCall'> {
  const { content, locations } = shown
  return { toolCall: { ...shown, status: 'pending', content: content.map(encodeContent), locations: [...locations] } }
}

function encodeCall(call: ShownCall, isNew: boolean): SessionUpdate {
  const { content, locations, rawOutput, status } = call
  const shown = {
    ...call,
    // Version 1 has no cancelled status.
    status: status === 'cancelled' ? ('failed' as const) : status,
    content: content.map(encodeContent),
    locations: [...locations],
    ...(rawOutput !== undefined && { rawOutput }),
  }
  return isNew ? { sessionUpdate: 'tool_call', ...shown } : { sessionUpdate: 'tool_call_update', ...shown }
}

export function encodeChoices(choices: readonly ShownChoice[]): SessionConfigOption[] {
  return choices.map((choice) => ({ id: choice.id, ...encodeChoice(choice) }))
}
