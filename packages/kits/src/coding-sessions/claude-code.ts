// Parses lines of Claude Code session files. Sources: docs/formats/claude-code.md of
// https://github.com/skillsynchq/txcript (verified there 2026-08-10) and https://code.claude.com/docs/en/sessions,
// which says that the format is internal and changes.
import type { HistoryEvent, ReadLine, SessionFacts } from './session-events.ts'
import { countOf, filesOf, isRecord, listOf, textOf, timeOf } from './session-events.ts'

type Line = Readonly<Record<string, unknown>>

/** Line types that are not part of the conversation. */
const SILENT: ReadonlySet<string> = new Set([
  'file-history-snapshot',
  'queue-operation',
  'attachment',
  'progress',
  'pr-link',
  'last-prompt',
  'mode',
  'permission-mode',
  'worktree-state',
])

export function readClaudeCodeLine(line: Line): ReadLine {
  const type = textOf(line['type'])
  const atMs = timeOf(line['timestamp'])
  const time = atMs === undefined ? {} : { atMs }
  switch (type) {
    case 'user':
    case 'assistant':
      return { ...time, ...readMessage(line, type), facts: readFacts(line) }
    case 'system': {
      const text = textOf(line['content'])
      return {
        ...time,
        events: text === undefined ? [] : [{ role: 'note', type: 'text', text }],
        facts: readFacts(line),
      }
    }
    // Titles: https://github.com/skillsynchq/txcript: custom-title over agent-name over summary; model-generated titles
    // rank last.
    case 'custom-title':
      return { ...time, events: [], facts: withTitle(line['customTitle'], 4) }
    case 'agent-name':
      return { ...time, events: [], facts: withTitle(line['agentName'], 3) }
    case 'summary':
      return { ...time, events: [], facts: withTitle(line['summary'], 2) }
    case 'ai-title':
      return { ...time, events: [], facts: withTitle(line['aiTitle'], 1) }
    default:
      return type !== undefined && SILENT.has(type)
        ? { ...time, events: [] }
        : { ...time, events: [], unknown: type ?? 'no type' }
  }
}

function readFacts({ cwd, gitBranch, version, sessionId, message }: Line): SessionFacts {
  const [id, folder, branch, release] = [sessionId, cwd, gitBranch, version].map(textOf)
  const model = isRecord(message) ? textOf(message['model']) : undefined
  return {
    ...(id !== undefined && { id }),
    ...(folder !== undefined && { cwd: folder }),
    ...(branch !== undefined && { branch }),
    ...(release !== undefined && { version: release }),
    ...(model !== undefined && model !== '<synthetic>' && { model }),
  }
}

function withTitle(value: unknown, rank: number): SessionFacts {
  const text = textOf(value)
  return text === undefined ? {} : { title: { text, rank } }
}

function readMessage(line: Line, role: 'user' | 'assistant'): Omit<ReadLine, 'facts'> {
  const message = isRecord(line['message']) ? line['message'] : {}
  const { content, usage, id } = message
  const side = line['isSidechain'] === true ? ({ isSidechain: true } as const) : {}
  const isNote = line['isMeta'] === true || line['isCompactSummary'] === true
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
  const events = blocks.flatMap((block) => readBlock(block, role, isNote)).map((event) => ({ ...event, ...side }))
  if (role === 'user' || !isRecord(usage)) return { events }
  // A streamed answer spans several lines, each with the usage so far.
  const key = textOf(id) ?? textOf(line['requestId']) ?? textOf(line['uuid']) ?? ''
  const tokens = {
    input: countOf(usage['input_tokens']),
    output: countOf(usage['output_tokens']),
    cacheRead: countOf(usage['cache_read_input_tokens']),
    cacheWrite: countOf(usage['cache_creation_input_tokens']),
  }
  return { events, tokens, tokensKey: key }
}

function readBlock(block: Line, role: 'user' | 'assistant', isNote: boolean): readonly HistoryEvent[] {
  switch (block['type']) {
    case 'text': {
      const text = textOf(block['text'])
      if (text === undefined) return []
      return [{ role: isNote || (role === 'user' && isCommand(text)) ? 'note' : role, type: 'text', text }]
    }
    case 'thinking': {
      const text = textOf(block['thinking'])
      return text === undefined ? [] : [{ role, type: 'reasoning', text }]
    }
    case 'tool_use': {
      const { id, name, input } = block
      const files = filesOf(input, ['file_path', 'notebook_path'])
      return [
        {
          role,
          type: 'call',
          text: JSON.stringify(input ?? {}),
          tool: textOf(name) ?? 'unknown',
          ...(textOf(id) !== undefined && { callId: String(id) }),
          ...(files.length > 0 && { files }),
        },
      ]
    }
    case 'tool_result': {
      const { tool_use_id: id, content, is_error: isError } = block
      return [
        {
          role: 'tool',
          type: 'result',
          text: resultText(content),
          ...(textOf(id) !== undefined && { callId: String(id) }),
          ...(isError === true && { isError: true as const }),
        },
      ]
    }
    case 'image':
      return [{ role, type: 'image', text: '[image]' }]
    default:
      return []
  }
}

const COMMAND_TAG =
  /\s*<(command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)|user-memory-input|task-notification|system-reminder)>/y
/** Releases before 2.1 write it without a tag. */
const CAVEAT =
  /^Caveat: The messages below were generated by the user while running local commands\.(?: DO NOT respond to these messages or otherwise consider them in your response unless the user explicitly asks you to\.)?/

/**
 * Whether the text consists entirely of markup for a slash command or its output. Text that merely quotes the tags is
 * the user's own.
 */
function isCommand(text: string): boolean {
  const whole = text.trim()
  // Matches piece by piece: a single pattern would be quadratic in the length if many tags are unclosed.
  for (let at = CAVEAT.exec(whole)?.[0].length ?? 0; at < whole.length;) {
    const begin = new RegExp(COMMAND_TAG)
    begin.lastIndex = at
    const tag = begin.exec(whole)?.[1]
    const end = tag === undefined ? -1 : whole.indexOf(`</${tag}>`, begin.lastIndex)
    if (tag === undefined || end < 0) return false
    at = end + tag.length + 3
  }
  return whole !== ''
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map((block) => (block['type'] === 'text' ? (textOf(block['text']) ?? '') : `[${textOf(block['type']) ?? 'part'}]`))
    .join('\n')
}
