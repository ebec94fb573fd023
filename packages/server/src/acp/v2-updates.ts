// Encodes updates for version 2, a draft: messages have ids, so text that was sent can be replaced.
import type {
  SessionConfigOption,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk/experimental/v2'
import { textBlock } from './shown-call.ts'
import type { ShownCall, ShownChoice, ShownContent, TurnEnd, Update } from './updates.ts'

/** The id of a session's single plan. */
const PLAN = 'plan'

export function encodeV2(update: Update): SessionUpdate | undefined {
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
    default:
      return encodeNews(update)
  }
}

function encodeNews(update: Update): SessionUpdate | undefined {
  switch (update.type) {
    case 'plan': {
      const entries = update.entries.map(({ content, status, priority = 'medium' }) => ({ content, status, priority }))
      return { sessionUpdate: 'plan_update', plan: { type: 'items', planId: PLAN, entries } }
    }
    case 'title': {
      const { title, atMs } = update
      const updatedAt = new Date(atMs).toISOString()
      return { sessionUpdate: 'session_info_update', updatedAt, ...(title !== undefined && { title }) }
    }
    case 'choices':
      return { sessionUpdate: 'config_option_update', configOptions: update.choices.map(encodeV2Choice) }
    case 'usage': {
      const { used, size, costMicros } = update
      const cost = costMicros === undefined ? {} : { cost: { amount: costMicros / 1_000_000, currency: 'USD' } }
      return { sessionUpdate: 'usage_update', used, size, ...cost }
    }
    case 'notice': {
      const { severity, title, text: description } = update
      return { sessionUpdate: 'notice', severity, title, ...(description !== undefined && { description }) }
    }
    case 'compacted': {
      const { id: compactionId, summary } = update
      const told = summary === undefined ? {} : { summary: [textBlock(summary)] }
      return { sessionUpdate: 'compaction_update', compactionId, status: 'completed', ...told }
    }
    default:
      return undefined
  }
}

function wholeText(text: string) {
  return text === '' ? [] : [textBlock(text)]
}

const FAILED = -32_603

function encodeEnd({ stop, error }: TurnEnd): SessionUpdate {
  const idle = { sessionUpdate: 'state_update', state: 'idle' } as const
  switch (stop) {
    case 'end':
    case 'tool':
    case 'silent':
      return { ...idle, stopReason: 'end_turn' }
    case 'max-tokens':
      return { ...idle, stopReason: 'max_tokens' }
    case 'limit':
      return { ...idle, stopReason: 'max_turn_requests' }
    case 'refused':
      return { ...idle, stopReason: 'refusal' }
    case 'cancelled':
    case 'stopped':
      return { ...idle, stopReason: 'cancelled' }
    case 'failed': {
      const { code, message } = error ?? { code: 'internal', message: 'the turn failed' }
      if (code === 'tool_round_limit_exceeded') return { ...idle, stopReason: 'max_turn_requests' }
      if (code === 'turn_tokens_exceeded') return { ...idle, stopReason: 'max_tokens' }
      return { ...idle, stopReason: 'error', error: { code: FAILED, message, data: { code } } }
    }
    default:
      return stop satisfies never
  }
}

export function encodeV2Call(call: ShownCall): ToolCallUpdate {
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

export function encodeV2Choice({
  id,
  name,
  description,
  category,
  current,
  options,
}: ShownChoice): SessionConfigOption {
  return {
    type: 'select',
    configId: id,
    name,
    description,
    category,
    currentValue: current,
    options: options.map((option) => ({ ...option })),
  }
}
