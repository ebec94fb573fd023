// Encodes updates for version 2, a draft: messages have ids, so text that was sent can be replaced.
import type {
  RequestPermissionRequest,
  SessionConfigOption,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk/experimental/v2'
import type { AskedCall } from './permissions.ts'
import { textBlock } from './shown-call.ts'
import type { ShownCall, ShownChoice, ShownContent, TurnEnd, Update } from './updates.ts'
import { encodeChoice, encodeEntries, encodeNews, readStop } from './updates.ts'

/** The id of a session's single plan. */
const PLAN = 'plan'

export function encodeV2(update: Update): readonly SessionUpdate[] {
  const encoded = encodeOne(update)
  return encoded ? [encoded] : []
}

function encodeOne(update: Update): SessionUpdate | undefined {
  switch (update.type) {
    case 'user-message':
      return { sessionUpdate: 'user_message', messageId: update.id, content: [...update.content] }
    case 'text':
      return { sessionUpdate: 'agent_message_chunk', messageId: update.id, content: textBlock(update.text) }
    case 'thought':
      return { sessionUpdate: 'agent_thought_chunk', messageId: update.id, content: textBlock(update.text) }
    case 'whole-text':
    case 'text-replaced':
      return { sessionUpdate: 'agent_message', messageId: update.id, content: wholeText(update.text) }
    case 'whole-thought':
    case 'thought-replaced':
      return { sessionUpdate: 'agent_thought', messageId: update.id, content: wholeText(update.text) }
    case 'call':
      return { sessionUpdate: 'tool_call_update', ...encodeV2Call(update.call) }
    case 'call-content':
      return {
        sessionUpdate: 'tool_call_update',
        toolCallId: update.callId,
        content: update.content.flatMap(encodeV2Content),
      }
    case 'ended':
      return encodeEnd(update.end)
    case 'state':
      if (update.state === 'idle') return { sessionUpdate: 'state_update', state: 'idle', stopReason: null }
      if (update.state === 'running') return { sessionUpdate: 'state_update', state: 'running' }
      return { sessionUpdate: 'state_update', state: 'requires_action' }
    case 'plan':
      return {
        sessionUpdate: 'plan_update',
        plan: { type: 'items', planId: PLAN, entries: encodeEntries(update.entries) },
      }
    case 'choices':
      return { sessionUpdate: 'config_option_update', configOptions: encodeV2Choices(update.choices) }
    case 'mode':
      return undefined // it is one of the choices
    default:
      return encodeNews(update)
  }
}

function wholeText(text: string) {
  return text === '' ? [] : [textBlock(text)]
}

const FAILED = -32_603

function encodeEnd(end: TurnEnd): SessionUpdate {
  const { stopReason, error } = readStop(end)
  const idle = { sessionUpdate: 'state_update', state: 'idle' } as const
  if (!error) return { ...idle, stopReason } as SessionUpdate // version 2 has all of these reasons
  const { code, message } = error
  return { ...idle, stopReason: 'error', error: { code: FAILED, message, data: { code } } }
}

/** A permission request without its session and its choices. */
export function encodeV2Asked(
  { asked }: AskedCall,
  shown: ShownCall,
): Omit<RequestPermissionRequest, 'sessionId' | 'options'> {
  return {
    title: shown.title,
    ...(asked && { description: asked.message }),
    subject: { type: 'tool_call', toolCall: encodeV2Call(shown) },
  }
}

function encodeV2Call(call: ShownCall): ToolCallUpdate {
  const { content, locations, rawOutput } = call
  return {
    ...call,
    content: content.flatMap(encodeV2Content),
    locations: [...locations],
    ...(rawOutput !== undefined && { rawOutput }),
  }
}

/** A patch needs line numbers, which are only known for a new file; an edit is shown as its replaced text instead. */
function encodeV2Content(content: ShownContent): readonly ToolCallContent[] {
  if (content.type !== 'diff') return [content]
  const { path, oldText, newText } = content
  if (oldText === null)
    return [{ type: 'diff', changes: [{ operation: 'add', path }], patch: patchNewFile(path, newText) }]
  const shown = `\`\`\`diff\n${prefixLines('-', oldText)}${prefixLines('+', newText)}\`\`\``
  return [
    { type: 'diff', changes: [{ operation: 'modify', path }] },
    { type: 'content', content: textBlock(shown) },
  ]
}

function patchNewFile(path: string, text: string) {
  const name = path.replace(/^\/+/, '')
  const lines = prefixLines('+', text)
  const count = lines === '' ? 0 : lines.split('\n').length - 1
  const end = text === '' || text.endsWith('\n') ? '' : '\\ No newline at end of file\n'
  const head = `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n`
  return { format: 'git_patch' as const, text: `${head}${count === 0 ? '' : `@@ -0,0 +1,${count} @@\n`}${lines}${end}` }
}

function prefixLines(mark: '+' | '-', text: string): string {
  if (text === '') return ''
  const lines = text.endsWith('\n') ? text.slice(0, -1) : text
  return `${mark}${lines.replaceAll('\n', `\n${mark}`)}\n`
}

export function encodeV2Choices(choices: readonly ShownChoice[]): SessionConfigOption[] {
  return choices.map((choice) => ({ configId: choice.id, ...encodeChoice(choice) }))
}
