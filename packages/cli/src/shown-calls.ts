// Results of calls that a chat has folded into one line each, to be shown whole later.
import type { CallResult } from '@baton/core'
import { parseJson } from '@baton/core'

export interface ShownCalls {
  /** Keeps the result, and returns what stands for it in its line. */
  add(name: string, result: Extract<CallResult, { readonly type: 'ok' }>): string
  /** By its number, or the newest one; undefined where there is none, or it was too long ago. */
  find(number: number | undefined): ShownCall | undefined
}

export interface ShownCall {
  readonly number: number
  readonly name: string
  readonly text: string
}

/** Results that are kept, and characters of all of them. */
const CALLS_MAX = 200
const CHARS_MAX = 4 * 1024 * 1024
/** Characters of a result that stands in the line itself. */
const SHORT_CHARS = 60

export function createShownCalls(): ShownCalls {
  const calls: ShownCall[] = []
  let count = 0
  let chars = 0
  return {
    add: (name, { content }) => {
      const text = content
        .map((part) => (part.type === 'text' ? lay(part.text) : `[${part.type} ${part.mediaType}]`))
        .join('\n')
      count += 1
      chars += text.length
      calls.push({ number: count, name, text })
      while (calls.length > CALLS_MAX || (chars > CHARS_MAX && calls.length > 1))
        chars -= calls.shift()?.text.length ?? 0
      const flat = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')
      if (flat.trim() === '') return ''
      if (flat.length <= SHORT_CHARS && !flat.includes('\n')) return `: ${flat}`
      const lines = text.split('\n').length
      return ` (${lines} ${lines === 1 ? 'line' : 'lines'}, /show ${count})`
    },
    find: (number) => (number === undefined ? calls.at(-1) : calls.find((call) => call.number === number)),
  }
}

/** JSON in lines; other text as it is. */
function lay(text: string): string {
  if (!/^\s*[{[]/.test(text)) return text
  const parsed = parseJson(text)
  return parsed.ok ? JSON.stringify(parsed.value, undefined, 2) : text
}
