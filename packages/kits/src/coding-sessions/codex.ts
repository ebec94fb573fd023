// Parses lines of Codex session files. Source: docs/formats/codex.md of https://github.com/skillsynchq/txcript, from
// codex-rs/rollout, history and protocol of https://github.com/openai/codex at 260261ed.
import { parseJson } from '@baton/core/internal'
import type { HistoryEvent, ReadLine, SessionFacts } from './session-events.ts'
import { countOf, isRecord, listOf, textOf, timeOf } from './session-events.ts'

type Line = Readonly<Record<string, unknown>>

/** Screen messages that duplicate `response_item`s, and line types that are not part of the conversation. */
const SILENT: ReadonlySet<string> = new Set([
  'agent_message',
  'agent_reasoning',
  'agent_reasoning_section_break',
  'exec_command_begin',
  'exec_command_output_delta',
  'item_completed',
  'item_started',
  'mcp_tool_call_begin',
  'mcp_tool_call_end',
  'patch_apply_begin',
  'task_complete',
  'task_started',
  'thread_name_updated',
  'turn_aborted',
  'turn_diff',
  'user_message',
  'web_search_begin',
  'web_search_end',
])

export function readCodexLine(line: Line): ReadLine {
  const type = textOf(line['type'])
  const atMs = timeOf(line['timestamp'])
  const time = atMs === undefined ? {} : { atMs }
  const payload = isRecord(line['payload']) ? line['payload'] : {}
  switch (type) {
    case 'session_meta':
      return { ...time, events: [], facts: readMeta(payload) }
    case 'turn_context': {
      const [model, cwd] = [textOf(payload['model']), textOf(payload['cwd'])]
      return {
        ...time,
        events: [],
        facts: { ...(model !== undefined && { model }), ...(cwd !== undefined && { cwd }) },
      }
    }
    case 'response_item':
      return { ...time, ...readItem(payload) }
    case 'event_msg':
      return { ...time, ...readScreen(payload) }
    case 'compacted': {
      const text = textOf(payload['message'])
      return { ...time, events: text === undefined ? [] : [{ role: 'note', type: 'text', text }] }
    }
    case 'world_state':
      return { ...time, events: [] }
    default:
      return { ...time, events: [], unknown: type ?? 'no type' }
  }
}

function readMeta({ id, cwd, cli_version: version, git }: Line): SessionFacts {
  const branch = isRecord(git) ? textOf(git['branch']) : undefined
  return {
    ...(textOf(id) !== undefined && { id: String(id) }),
    ...(textOf(cwd) !== undefined && { cwd: String(cwd) }),
    ...(textOf(version) !== undefined && { version: String(version) }),
    ...(branch !== undefined && { branch }),
  }
}

function readItem(item: Line): ReadLine {
  // In files from 2025, messages have no type.
  const type = textOf(item['type']) ?? (textOf(item['role']) === undefined ? '' : 'message')
  switch (type) {
    case 'message':
      return { events: readMessage(item) }
    case 'reasoning': {
      const text = listOf(item['summary'])
        .map((piece) => textOf(piece['text']) ?? '')
        .join('\n')
      return { events: text === '' ? [] : [{ role: 'assistant', type: 'reasoning', text }] }
    }
    case 'function_call':
      return { events: [readCall(item, item['arguments'])] }
    case 'local_shell_call':
      return { events: [readCall({ name: 'shell', ...item }, JSON.stringify(item['action'] ?? {}))] }
    case 'custom_tool_call':
      return { events: [readCall(item, item['input'])] }
    case 'web_search_call':
      return {
        events: [{ role: 'assistant', type: 'call', tool: 'web_search', text: JSON.stringify(item['action'] ?? {}) }],
      }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { events: [readOutput(item)] }
    default:
      return { events: [], unknown: `response_item ${type}` }
  }
}

function readMessage({ role: given, content }: Line): readonly HistoryEvent[] {
  const role = given === 'assistant' ? 'assistant' : 'user'
  return listOf(content).flatMap((block): readonly HistoryEvent[] => {
    if (block['type'] === 'input_image') return [{ role, type: 'image', text: '[image]' }]
    const text = textOf(block['text'])
    if (text === undefined) return []
    const isNote = given !== 'assistant' && (given !== 'user' || isScaffold(text))
    return [{ role: isNote ? 'note' : role, type: 'text', text }]
  })
}

/** Messages that Codex itself writes on the user's behalf. */
function isScaffold(text: string): boolean {
  return /^\s*(<(environment_context|user_instructions|permissions instructions|INSTRUCTIONS|turn_aborted|skill)>|# AGENTS\.md instructions)/.test(
    text,
  )
}

function readCall(item: Line, input: unknown): HistoryEvent {
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {})
  const files = patchedFiles(text)
  return {
    role: 'assistant',
    type: 'call',
    text,
    tool: textOf(item['name']) ?? 'unknown',
    ...(textOf(item['call_id']) !== undefined && { callId: String(item['call_id']) }),
    ...(files.length > 0 && { files }),
  }
}

/**
 * Files in an `apply_patch`, either as its own input or in the arguments of a command, where line breaks are escaped.
 */
function patchedFiles(text: string): readonly string[] {
  if (!text.includes('*** Begin Patch')) return []
  return [...text.matchAll(/\*\*\* (?:Add|Update|Delete) File: ([^\n\\]{1,4096})/g)].map(([, path = '']) => path.trim())
}

function readOutput({ call_id: id, output }: Line): HistoryEvent {
  const plain =
    typeof output === 'string' ? output : isRecord(output) ? (textOf(output['content']) ?? JSON.stringify(output)) : ''
  const parsed = plain.startsWith('{') ? parseJson(plain) : undefined
  const told = parsed?.ok === true && isRecord(parsed.value) ? parsed.value : undefined
  const text = told ? (textOf(told['output']) ?? plain) : plain
  const metadata = told && isRecord(told['metadata']) ? told['metadata'] : {}
  const code =
    metadata['exit_code'] ?? /^(?:Exit code:|Process exited with code) (\d{1,3})$/m.exec(text.slice(0, 400))?.[1]
  const isError = (code !== undefined && Number(code) !== 0) || (isRecord(output) && output['success'] === false)
  return {
    role: 'tool',
    type: 'result',
    text,
    ...(textOf(id) !== undefined && { callId: String(id) }),
    ...(isError && { isError: true as const }),
  }
}

function readScreen(event: Line): ReadLine {
  const type = textOf(event['type']) ?? ''
  switch (type) {
    case 'exec_command_end': {
      const text = textOf(event['aggregated_output']) ?? ''
      const isError = typeof event['exit_code'] === 'number' && event['exit_code'] !== 0
      const callId = textOf(event['call_id'])
      return {
        events: [
          {
            role: 'tool',
            type: 'result',
            text,
            ...(callId !== undefined && { callId }),
            ...(isError && { isError: true as const }),
          },
        ],
      }
    }
    case 'patch_apply_end': {
      const callId = textOf(event['call_id'])
      const files = isRecord(event['changes']) ? Object.keys(event['changes']) : []
      const text = files.join('\n')
      const isError = event['success'] === false ? { isError: true as const } : {}
      return {
        events: [{ role: 'tool', type: 'result', text, files, ...(callId !== undefined && { callId }), ...isError }],
      }
    }
    case 'token_count':
      return { events: [], ...readTokens(event['info']) }
    case 'error':
    case 'stream_error': {
      const text = textOf(event['message'])
      return { events: text === undefined ? [] : [{ role: 'note', type: 'text', text, isError: true }] }
    }
    default:
      return SILENT.has(type) ? { events: [] } : { events: [], unknown: `event_msg ${type}` }
  }
}

/** The session's running total replaces earlier counts; older files have only the last request's tokens. */
function readTokens(info: unknown): Pick<ReadLine, 'tokens' | 'tokensKey'> {
  if (!isRecord(info)) return {}
  const total = isRecord(info['total_token_usage']) ? info['total_token_usage'] : undefined
  const usage = total ?? (isRecord(info['last_token_usage']) ? info['last_token_usage'] : undefined)
  if (!usage) return {}
  const cacheRead = countOf(usage['cached_input_tokens'])
  const tokens = {
    input: Math.max(0, countOf(usage['input_tokens']) - cacheRead),
    output: countOf(usage['output_tokens']),
    cacheRead,
    cacheWrite: countOf(usage['cache_write_input_tokens']),
  }
  return { tokens, ...(total && { tokensKey: 'total' }) }
}
