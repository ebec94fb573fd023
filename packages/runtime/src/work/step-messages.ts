// Checks the messages that `prepareStep` gives to one request: a provider refuses a result without its call, or says nothing useful
// about a message of the wrong shape.
import type { Message } from '@baton/core/internal'
import { describeValue } from '@baton/core/internal'

/** Part types by role; others are refused. */
const PARTS: Readonly<Record<Message['role'], readonly string[]>> = {
  user: ['text', 'image', 'file'],
  assistant: ['text', 'reasoning', 'call', 'source', 'provider'],
  tool: ['result'],
}

type Fields = Readonly<Record<string, unknown>>

/** Says what is wrong with a list of messages; undefined if a model can be asked with it. */
export function findWrongMessage(value: unknown): string | undefined {
  if (!Array.isArray(value)) return `must be a list of messages, not ${describeValue(value)}`
  /** Ids of the calls whose results must follow. */
  let open: readonly unknown[] = []
  for (const [index, message] of (value as readonly unknown[]).entries()) {
    const where = `has a wrong message at index ${index}`
    const { role, parts } = readFields(message)
    const types = typeof role === 'string' && Object.hasOwn(PARTS, role) ? PARTS[role as Message['role']] : undefined
    if (!types) return `${where}: its role must be "user", "assistant" or "tool", not ${describeValue(role)}`
    if (!Array.isArray(parts)) return `${where}: its parts must be a list, not ${describeValue(parts)}`
    const all = (parts as readonly unknown[]).map(readFields)
    const strange = all.find(({ type }) => !types.includes(String(type)))
    if (strange)
      return `${where}: a ${String(role)} message has parts of type ${types.join(', ')}, not ${describeValue(strange['type'])}`
    const broken = all.find((part) => !isWhole(part))
    if (broken) return `${where}: a part of type "${String(broken['type'])}" lacks a field`
    const ids = all.filter(({ type }) => type === 'call' || type === 'result').map(({ callId }) => callId)
    if (role === 'tool' ? !isSameList(ids, open) : open.length > 0)
      return `${where}: the calls ${list(open)} of the assistant message before need their results here, and this has ${list(role === 'tool' ? ids : [])}`
    open = role === 'assistant' ? ids : []
  }
  if (open.length > 0) return `ends with the calls ${list(open)}, which have no results`
  return value.length === 0 ? 'must have at least one message' : undefined
}

function readFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function isWhole({ type, text, callId, name, content, arguments: given, source }: Fields): boolean {
  switch (type) {
    case 'text':
    case 'reasoning':
      return typeof text === 'string'
    case 'call':
      return typeof callId === 'string' && typeof name === 'string' && typeof given === 'string'
    case 'result':
      return typeof callId === 'string' && typeof name === 'string' && Array.isArray(content)
    case 'image':
    case 'file':
      return typeof source === 'object' && source !== null
    default:
      return true
  }
}

function isSameList(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && others.every((one) => some.includes(one))
}

function list(ids: readonly unknown[]): string {
  return ids.length === 0 ? 'none' : ids.map(String).join(', ')
}
