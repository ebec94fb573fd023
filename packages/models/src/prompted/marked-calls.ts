// Calls with their own marks inside a section: begin, tool name, separator, JSON, end. DeepSeek and Kimi.
import type { ReadCall, Reading } from './format.ts'
import { readArguments } from './json-calls.ts'

export interface MarkSyntax {
  readonly begin: string
  readonly separator: string
  readonly end: string
  /** Splits a call into name and arguments, from the text before and after the separator. */
  readonly split: (head: string, rest: string, reading: Reading) => { readonly name: string; readonly json: string }
}

export function readMarkedCalls(inside: string, syntax: MarkSyntax, reading: Reading): readonly ReadCall[] {
  const { begin, separator, end, split } = syntax
  const calls: ReadCall[] = []
  let at = inside.indexOf(begin)
  while (at !== -1) {
    const from = at + begin.length
    const middle = inside.indexOf(separator, from)
    if (middle === -1) {
      calls.push({ name: '', arguments: '{}', problem: 'the name of its tool does not end' })
      break
    }
    const to = findEnd(inside, end, middle + separator.length)
    const isClosed = to < inside.length || reading.isClosed
    const rest = inside.slice(middle + separator.length, to)
    const { name, json } = split(inside.slice(from, middle).trim(), rest, reading)
    calls.push(readArguments(name, json, { ...reading, isClosed }))
    at = inside.indexOf(begin, to)
  }
  return calls.length > 0 ? calls : [{ name: '', arguments: '{}', problem: 'it contains no call' }]
}

/** Finds the end outside of JSON strings, or else inside one. Returns the end of the text if there is none. */
function findEnd(text: string, end: string, from: number): number {
  let inText = false
  let hidden = -1
  for (let index = from; index < text.length; index++) {
    const char = text[index]
    if (inText && char === '\\') index += 1
    else if (char === '"') inText = !inText
    else if (char === end[0] && text.startsWith(end, index)) {
      if (!inText) return index
      if (hidden === -1) hidden = index
    }
  }
  return hidden === -1 ? text.length : hidden
}
